import { spawn } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { delimiter, join } from 'node:path'
import { freePort } from './postgres.ts'
import { endWithThisProcess, removeWithThisProcess } from './until-exit.ts'

/**
 * Runs the real nginx or HAProxy with the configuration from `deploy/`, in which only addresses and output paths are
 * changed.
 */
export const BALANCERS = ['nginx', 'haproxy'] as const
export type BalancerKind = (typeof BALANCERS)[number]
export type ShippedBalancer = Awaited<ReturnType<typeof startShippedBalancer>>
type Ports = { upload: [number, number]; web: [number, number] }
type Replacement = [from: string, to: string]

export function findBalancer(kind: BalancerKind): string | undefined {
  // Debian installs them in a folder that is not in users' PATH.
  const folders = [...(process.env.PATH ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.map((folder) => join(folder, kind)).find((path) => existsSync(path))
}

export async function startShippedBalancer(kind: BalancerKind, ports: Ports, changes: Replacement[] = []) {
  const program = findBalancer(kind)!
  // nginx does not support spaces in its paths.
  const folder = mkdtempSync(join(tmpdir(), 'sluice-balancer-'))
  const removeFolder = removeWithThisProcess(folder)
  const port = await freePort()
  const file = join(folder, kind)
  const shipped = kind === 'nginx' ? 'deploy/nginx.conf' : 'deploy/haproxy.cfg'
  const own = kind === 'nginx' ? nginxPlaces(folder, port) : [[':8080', `127.0.0.1:${port}`] as Replacement]
  writeFileSync(file, replaced(readFileSync(shipped, 'utf8'), [...addresses(ports), ...own, ...changes]))
  const args =
    kind === 'nginx'
      ? ['-p', folder, '-c', file, '-e', 'stderr', '-g', `daemon off; pid ${folder}/pid;`]
      : ['-db', '-f', file]
  const child = spawn(program, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  endWithThisProcess(child)
  let output = ''
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (text) => (output += text))
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  const url = `http://127.0.0.1:${port}`
  while (!(await fetch(`${url}/metrics`).catch(() => undefined)))
    if (child.exitCode !== null)
      throw new Error(`${kind} exited:\
${output}`)
  return {
    kind,
    port,
    url,
    output: () => output,
    /**
     * Reloads nginx with changed settings, as a Kubernetes controller does: requests in progress finish with the old
     * ones.
     */
    reload(changed: (config: string) => string) {
      writeFileSync(file, changed(readFileSync(file, 'utf8')))
      child.kill('SIGHUP')
    },
    /** Its access log. */
    log: () => (kind === 'nginx' ? readFileSync(join(folder, 'access.log'), 'utf8') : output),
    async close() {
      child.kill('SIGTERM')
      await ended
      removeFolder()
    },
  }
}

function addresses({ upload, web }: Ports): Replacement[] {
  return [
    ['upload-1:3000', `127.0.0.1:${upload[0]}`],
    ['upload-2:3000', `127.0.0.1:${upload[1]}`],
    ['web-1:3000', `127.0.0.1:${web[0]}`],
    ['web-2:3000', `127.0.0.1:${web[1]}`],
  ]
}

function nginxPlaces(folder: string, port: number): Replacement[] {
  const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  for (const name of kept) mkdirSync(join(folder, name))
  const paths = kept.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
  // When started as root, nginx would run its workers as another user, who cannot enter the folder.
  const user = process.getuid?.() === 0 ? 'user root;\n' : ''
  return [
    ['listen 8080', `listen 127.0.0.1:${port}`],
    ['worker_processes auto;', `${user}worker_processes 1;`],
    ['http {', `http {\n  ${paths}`],
    ['access_log /dev/stdout', `access_log ${folder}/access.log`],
  ]
}

function replaced(text: string, changes: Replacement[]): string {
  return changes.reduce((now, [from, to]) => now.replaceAll(from, to), text)
}
