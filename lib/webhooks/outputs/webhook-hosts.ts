import type { Config } from '../../platform/settings/config.ts'

/** Private hosts that a webhook may go to: those the operator allows, and Sluice's own front door for the inbox. */
export function webhookHosts({
  allowedPrivateHosts,
  baseUrl,
}: Pick<Config, 'allowedPrivateHosts' | 'baseUrl'>): string[] {
  const { hostname, port, protocol } = new URL(baseUrl)
  return [...allowedPrivateHosts, `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`]
}
