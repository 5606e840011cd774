/**
 * A request must be for a host that is ours: it keeps a page of another origin from reaching a loopback
 * server through a name of its own (DNS rebinding).
 */
export function allowedHosts(addresses: string[]): ReadonlySet<string> {
  const hosts = new Set<string>()
  for (const address of addresses) {
    const { hostname, port, protocol, host } = new URL(address)
    const explicit = port || (protocol === 'https:' ? '443' : '80')
    hosts.add(host).add(`${hostname}:${explicit}`)
    if (hostname === 'localhost') hosts.add(`127.0.0.1:${explicit}`).add(`[::1]:${explicit}`)
  }
  return hosts
}
