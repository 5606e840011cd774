import { readFileSync } from 'node:fs'
import { join } from 'node:path'

/**
 * Finds the lines of this version's balancer file that an operator's own file is missing. Operators fill in their
 * addresses and add their own lines. Uploads need the rest of the shipped file.
 */
const SHIPPED = { nginx: 'deploy/nginx.conf', haproxy: 'deploy/haproxy.cfg' }
/** Addresses and sizes, which differ for each operator. */
const OWN = {
  nginx: /^(?:server [^{]+;|server \{|listen |worker_|keepalive |access_log |upstream |zone |[{}])/,
  haproxy: /^(?:server |bind |log |fd-hard-limit |(?:global|defaults|frontend|backend)\b)/,
}

export type Compared = { shipped: string; missing: string[] }

export function compareBalancer(text: string, root: string): Compared {
  const kind = /^\s*(?:frontend|backend)\s/m.test(text) ? 'haproxy' : 'nginx'
  const has = new Set(directivesOf(text))
  const shipped = directivesOf(readFileSync(join(root, SHIPPED[kind]), 'utf8'))
  return {
    shipped: SHIPPED[kind],
    missing: [...new Set(shipped)].filter((line) => !OWN[kind].test(line) && !has.has(line)),
  }
}

function directivesOf(text: string): string[] {
  return text
    .split('\n')
    .map((line) => line.trim().replace(/\s+/g, ' '))
    .filter((line) => line !== '' && !line.startsWith('#'))
}
