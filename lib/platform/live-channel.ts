/** NOTIFY on it, with a workspace's id, when something changed that its open pages show. */
export const LIVE_CHANNEL = 'sluice_live'
