import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { temporaryFolder } from '../../test/support/sluice.ts'

/** Shares of a process's CPU by purpose, largest first. */
export type Profile = [kind: string, share: number][]

const FREQUENCY = 1999
/** How long perf takes to attach to a process. */
const ATTACH_MS = 700
const KERNEL = '([kernel.kallsyms])'
/** The kind of a stack is the first one that matches. A stack starts with the innermost frame. */
const KINDS: [kind: string, fits: (leaf: string, stack: string) => boolean][] = [
  ['page faults', (_, stack) => stack.includes('asm_exc_page_fault')],
  ['reading', (leaf, stack) => leaf.endsWith(KERNEL) && /(sys|do)_(read|recv)/.test(stack)],
  ['writing', (leaf, stack) => leaf.endsWith(KERNEL) && /(sys|do)_(write|send)/.test(stack)],
  ['other system calls', (leaf) => leaf.endsWith(KERNEL)],
  ['checksums and signatures', (leaf) => /crc32|sha256|md5|sha1/i.test(leaf)],
  ['cipher', (leaf) => /aes|gcm|ghash|chacha|poly1305/i.test(leaf)],
  ['copying', (leaf) => /mem(move|cpy)/.test(leaf)],
  ['garbage collection', (_, stack) => GARBAGE.test(stack)],
  ['compiling JavaScript', (_, stack) => COMPILER.test(stack)],
  ['TLS records', (_, stack) => /SSL_(write|read)|crypto\/tls\./.test(stack.slice(0, 600))],
]
const GARBAGE =
  /v8::internal::(Heap::|Scaveng|MarkCompact|ConcurrentMarking|Sweeper|Marking|Evacuat|MainMarking|ArrayBufferSweep)|runtime\.(gc|scan|sweep|bgsweep|mallocgc|greyobject|markroot)/
const COMPILER = /v8::internal::(compiler|maglev|baseline|OptimizingCompile|Compiler|interpreter)/

export function hasPerf(): boolean {
  return spawnSync('perf', ['record', '-e', 'cpu-clock', '-o', '/dev/null', 'true']).status === 0
}

/** Uses perf, because it can sample a running process that was started without any flags for profiling. */
export async function profile(pid: number, work: () => Promise<unknown>): Promise<Profile> {
  using folder = temporaryFolder()
  const file = join(folder.path, 'perf.data')
  const settings = ['-e', 'cpu-clock', '-F', String(FREQUENCY), '-g', '-p', String(pid), '-o', file]
  const perf = spawn('perf', ['record', ...settings], { stdio: 'ignore' })
  await pause(ATTACH_MS)
  await work()
  const ended = once(perf, 'exit')
  perf.kill('SIGINT')
  await ended
  const script = ['script', '-i', file, '-F', 'ip,sym,dso']
  const samples = execFileSync('perf', script, { maxBuffer: 2 ** 30, stdio: ['ignore', 'pipe', 'ignore'] })
  return sharesOf(samples.toString())
}

function sharesOf(samples: string): Profile {
  const stacks = samples.split('\n\n').filter((stack) => stack.trim())
  const counts = new Map<string, number>()
  for (const stack of stacks) {
    const leaf = stack.trim().split('\n', 1)[0]!
    const kind = KINDS.find(([, fits]) => fits(leaf, stack))?.[0] ?? 'the program itself'
    counts.set(kind, (counts.get(kind) ?? 0) + 1)
  }
  const shares = [...counts].map(([kind, count]): [string, number] => [kind, count / stacks.length])
  return shares.sort(([, a], [, b]) => b - a)
}
