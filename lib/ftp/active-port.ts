import { once } from 'node:events'
import { isIPv6, Socket, SocketAddress } from 'node:net'

const FIRST_USER_PORT = 1024
/** Some clients name the address that they listen on, which is any of their own. */
const UNSPECIFIED = ['0.0.0.0', '::']

/**
 * A port on which a client listens for its next data connection. Undefined for other addresses and for the ports of
 * system services: the server could otherwise be made to attack others.
 */
export function activePort(client: string, address: string, port: number) {
  if (![client, ...UNSPECIFIED].includes(usual(address))) return undefined
  if (port < FIRST_USER_PORT || port > 65_535) return undefined
  const socket = new Socket().on('error', () => {})
  return {
    async connect(): Promise<Socket> {
      await once(socket.connect({ host: client, port }), 'connect')
      return socket
    },
    release: () => void socket.destroy(),
  }
}

/** Clients write IPv6 addresses in several ways. */
const usual = (address: string): string =>
  isIPv6(address) ? new SocketAddress({ address, family: 'ipv6' }).address : address
