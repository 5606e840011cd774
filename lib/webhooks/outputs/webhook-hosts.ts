import type { Config } from '../../platform/settings/config.ts'

/** Private hosts to which webhooks may be sent: those that the operator allows, and Sluice itself, for the inbox. */
export function webhookHosts({
  allowedPrivateHosts,
  baseUrl,
}: Pick<Config, 'allowedPrivateHosts' | 'baseUrl'>): string[] {
  const { hostname, port, protocol } = new URL(baseUrl)
  return [...allowedPrivateHosts, `${hostname}:${port || (protocol === 'https:' ? 443 : 80)}`]
}
