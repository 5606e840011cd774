import { spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { CERTIFICATE } from './certificates.ts'
import { freePort } from './postgres.ts'
import { endWithThisProcess, removeWithThisProcess } from './until-exit.ts'

/** `go install github.com/letsencrypt/pebble/v2/cmd/pebble@latest` installs it. */
export const hasPebble = (): boolean => spawnSync('pebble', ['-version']).status === 0

/**
 * Starts Pebble, the certificate authority that Let's Encrypt offers for tests. It looks for hosts at `names`, and connects to
 * them on `tlsPort` instead of 443. Its own certificate is CERTIFICATE.
 */
export async function startPebble({ names, tlsPort }: { names: string; tlsPort: number }) {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-pebble-'))
  const removeFolder = removeWithThisProcess(folder)
  const [port, managementPort] = [await freePort(), await freePort()]
  const pebble = {
    listenAddress: `127.0.0.1:${port}`,
    managementListenAddress: `127.0.0.1:${managementPort}`,
    certificate: CERTIFICATE.cert,
    privateKey: CERTIFICATE.key,
    httpPort: 1,
    tlsPort,
    profiles: { default: { description: '', validityPeriod: 90 * 86_400 } },
  }
  const file = join(folder, 'pebble.json')
  writeFileSync(file, JSON.stringify({ pebble }))
  const child = spawn('pebble', ['-strict', '-config', file, '-dnsserver', names], {
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  endWithThisProcess(child)
  const lines: string[] = []
  const ready = Promise.withResolvers<void>()
  for (const stream of [child.stdout, child.stderr])
    createInterface(stream).on('line', (line) => {
      lines.push(line)
      if (line.includes('ACME directory available')) ready.resolve()
    })
  child.once('exit', () => ready.reject(new Error(`pebble did not start:\n${lines.join('\n')}`)))
  await ready.promise
  return {
    directory: `https://localhost:${port}/dir`,
    /** In PEM. Needs CERTIFICATE among the trusted ones. */
    root: async () => (await fetch(`https://localhost:${managementPort}/roots/0`)).text(),
    lines,
    async stop() {
      child.kill()
      await once(child, 'exit')
      removeFolder()
    },
  }
}
