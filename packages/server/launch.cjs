#!/usr/bin/env node
/**
 * Runs Sluice, or one of its commands, on the Node that was installed with it, and otherwise on this one if it is new
 * enough. Written for old versions of Node.
 */
const { spawn } = require('node:child_process')
const { existsSync } = require('node:fs')
const { dirname, join } = require('node:path')

const OLDEST = [22, 18]
const COMMANDS = ['start', 'account', 'backup', 'reconcile', 'restore', 'rotate-keys', 'upgrade-check']
const USAGE = `Usage: sluice-server [${COMMANDS.join('|')}] [options]. Without a command, it starts the server.`
const SIGNALS = ['SIGTERM', 'SIGINT', 'SIGHUP']
const PARENT_POLL_MS = 250
/** Without these, glibc's malloc does not return most of the memory used during a burst to the system. */
const MALLOC = {
  MALLOC_ARENA_MAX: '2',
  MALLOC_MMAP_THRESHOLD_: '81920',
  MALLOC_TRIM_THRESHOLD_: '131072',
}

const { command, args } = readCommand(process.argv.slice(2))
const child = spawn(
  findNode(),
  [
    '--max-semi-space-size=16',
    join(__dirname, `${command === 'start' ? 'packages/server' : 'scripts'}/${command}.js`),
  ].concat(args),
  { stdio: 'inherit', env: Object.assign({}, MALLOC, process.env) },
)
child.on('error', (error) => fail(`Node could not be started: ${error.message}`))
child.on('exit', (code, signal) => {
  if (!signal) process.exit(code)
  for (const name of SIGNALS) process.removeAllListeners(name)
  process.kill(process.pid, signal)
})
for (const signal of SIGNALS) process.on(signal, () => child.kill(signal))
endWithParent()

function readCommand(given) {
  const first = given[0]
  if (first === '--help' || first === '-h') {
    process.stdout.write(`${USAGE}\n`)
    process.exit(0)
  }
  if (!first || first.startsWith('-')) return { command: 'start', args: given }
  if (!COMMANDS.includes(first)) fail(`There is no command "${first}". ${USAGE}`)
  return { command: first, args: given.slice(1) }
}

function findNode() {
  const installed = nodeOf(`node-${process.platform === 'win32' ? 'win' : process.platform}-${process.arch}`)
  const appleSilicon = nodeOf(`node-bin-${process.platform}-${process.arch}`)
  const found = installed || appleSilicon
  if (found) return found
  const [major, minor] = process.versions.node.split('.').map(Number)
  if (major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1])) return process.execPath
  return fail(
    `Sluice needs Node ${OLDEST.join('.')} or newer, and this is Node ${process.versions.node}. Install Sluice without --omit=optional, which includes a newer Node on most platforms, or install a newer Node yourself.`,
  )
}

function nodeOf(name) {
  try {
    const path = join(
      dirname(require.resolve(`${name}/package.json`)),
      'bin',
      process.platform === 'win32' ? 'node.exe' : 'node',
    )
    return existsSync(path) ? path : undefined
  } catch {
    return undefined
  }
}

/** On SIGTERM, npx ends only the shell between itself and this process, which would otherwise keep running. */
function endWithParent() {
  const parent = process.ppid
  if (!process.env.npm_lifecycle_event) return
  setInterval(() => {
    if (process.ppid !== parent) child.kill('SIGTERM')
  }, PARENT_POLL_MS).unref()
}

function fail(message) {
  process.stderr.write(`${message}\n`)
  process.exit(1)
}
