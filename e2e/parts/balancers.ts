import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { freePort } from './postgres.ts'
import { temporaryFolder } from './sluice.ts'
import { endWithThisProcess } from './until-exit.ts'

/** nginx and HAProxy as deploy/ configures them, in front of one node that plays every role. */
export type Balancer = { port: number; [Symbol.asyncDispose](): Promise<void> }

const PROGRAMS = {
  nginx: { file: 'deploy/nginx.conf', args: nginxArguments },
  haproxy: { file: 'deploy/haproxy.cfg', args: haproxyArguments },
}
export type BalancerName = keyof typeof PROGRAMS

export function isInstalled(name: BalancerName): boolean {
  return spawnSync(name, ['-v'], { stdio: 'ignore' }).error === undefined
}

export async function startBalancer(name: BalancerName, nodePort: number): Promise<Balancer> {
  const folder = temporaryFolder()
  const port = await freePort()
  const { file, args } = PROGRAMS[name]
  const config = join(folder.path, 'config')
  const text = readFileSync(file, 'utf8')
    .replaceAll(/\b(upload-1|upload-2|web):3000/g, `127.0.0.1:${nodePort}`)
    .replace('listen 8080', `listen 127.0.0.1:${port}`)
    .replace('bind :8080', `bind 127.0.0.1:${port}`)
    // So many need more descriptors than a test may have.
    .replace('maxconn 20000', 'maxconn 200')
  writeFileSync(config, text)
  const child = spawn(name, args(config, folder.path), { stdio: ['ignore', 'ignore', 'pipe'] })
  endWithThisProcess(child, 'SIGTERM')
  let said = ''
  child.stderr.on('data', (chunk) => (said += chunk))
  const exited = new Promise<void>((resolve) => child.once('exit', () => resolve()))
  await accepts(port, child, () => said)
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill('SIGTERM')
      await exited
      folder[Symbol.dispose]()
    },
  }
}

function nginxArguments(config: string, folder: string): string[] {
  const kept = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi']
  const paths = kept.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ')
  // In the folder of the test, not in those of the system.
  writeFileSync(config, readFileSync(config, 'utf8').replace('http {', `http { access_log off; ${paths}`))
  return ['-c', config, '-p', folder, '-e', 'stderr', '-g', `daemon off; pid ${folder}/pid;`]
}

function haproxyArguments(config: string): string[] {
  return ['-db', '-f', config]
}

async function accepts(port: number, child: ChildProcess, said: () => string): Promise<void> {
  while (child.exitCode === null) {
    const socket = connect(port, '127.0.0.1')
    const open = await new Promise<boolean>((resolve) => {
      socket.once('connect', () => resolve(true))
      socket.once('error', () => resolve(false))
    })
    socket.destroy()
    if (open) return
    await delay(20)
  }
  throw new Error(`The balancer ended with ${child.exitCode}:\n${said()}`)
}
