import { seconds } from '../../lib/platform/kernel/clock.ts'

/**
 * An upload may take days, so there is no limit for a whole request; each kind of body has its own. With none, Node waits
 * for ever for the headers, too, unless told otherwise: a client that drips them would hold its connection.
 */
export const SERVER_OPTIONS = {
  requestTimeout: 0,
  headersTimeout: seconds(30),
  connectionsCheckingInterval: seconds(5),
  keepAliveTimeout: seconds(65),
}
