import { once } from 'node:events'
import { connect } from 'node:net'
import type { BalancerKind, ShippedBalancer } from '../../../test/support/shipped-balancer.ts'

/**
 * An ingress controller, which directs the balancer to the current endpoints. Like the real ones, the one for HAProxy
 * sets the addresses of server slots through the admin socket, and the one for nginx writes a new file and reloads it.
 */
export type Ingress = { lead(ports: readonly number[]): Promise<void> }

const SLOTS = ['upload-1', 'upload-2', 'upload-3', 'upload-4']

/** Changes to the shipped file: an admin socket, and slots for the pods that a rollout adds. */
export function changesFor(kind: BalancerKind, socket: string): [string, string][] {
  if (kind === 'nginx') return []
  const free = SLOTS.slice(2).map((name) => `  server ${name} 127.0.0.1:1 disabled\n`)
  const after = '  # If no upload node is available, HAProxy responds'
  return [
    ['fd-hard-limit 40000\n', `fd-hard-limit 40000\n  stats socket ${socket} level admin\n`],
    [after, free.join('') + after],
  ]
}

export function openIngress(balancer: ShippedBalancer, socket: string): Ingress {
  return balancer.kind === 'nginx' ? byFile(balancer) : bySlots(socket)
}

function byFile(balancer: ShippedBalancer): Ingress {
  return {
    async lead(ports) {
      const servers = ports.map((port) => `server 127.0.0.1:${port} max_fails=1 fail_timeout=2s;\n`).join('')
      balancer.reload((config) =>
        config.replace(
          /(upstream upload \{\n\s+zone[^\n]+\n\s+least_conn;\n)(?:\s*server [^\n]+\n)+/,
          `$1${servers}`,
        ),
      )
    },
  }
}

function bySlots(socket: string): Ingress {
  const taken = new Map<string, number | undefined>(SLOTS.map((slot) => [slot, undefined]))
  return {
    async lead(ports) {
      for (const [slot, port] of taken) {
        if (port === undefined || ports.includes(port)) continue
        await say(socket, `set server upload/${slot} state maint`)
        taken.set(slot, undefined)
      }
      for (const port of ports.filter((port) => ![...taken.values()].includes(port))) {
        const [slot] = [...taken].find(([, other]) => other === undefined)!
        taken.set(slot, port)
        await say(socket, `set server upload/${slot} addr 127.0.0.1 port ${port}`)
        await say(socket, `set server upload/${slot} state ready`)
      }
    },
  }
}

async function say(path: string, command: string): Promise<void> {
  const socket = connect(path)
  socket.end(`${command}\n`)
  let answer = ''
  socket.on('data', (text) => (answer += text))
  await once(socket, 'close')
  // A successful command prints nothing, or reports whether the address changed.
  if (answer.trim() && !/changed from|nothing changed|no need to change/i.test(answer))
    throw new Error(`${command}: ${answer.trim()}`)
}
