import { expect, it, vi } from 'vitest'
import { createLogger } from '../log/log.ts'
import type { Db } from './database.ts'
import { createRecentCommits, type Redo } from './recent-commits.ts'

const db = {} as Db

function open() {
  let nowMs = 0
  const lines: Record<string, unknown>[] = []
  const log = createLogger('info', { write: (line) => void lines.push(JSON.parse(line)) })
  const recent = createRecentCommits(() => nowMs)
  const advance = (ms: number) => {
    nowMs += ms
  }
  return { recent, log, lines, advance }
}

/** Fails at first, as if another process had to repeat something else first. */
function possibleAtTry(least: number): Redo {
  let tries = 0
  return async () => {
    tries += 1
    if (tries < least) throw new Error('not yet')
    return 'made again'
  }
}

it('repeats commits in the order of their dependencies before anything else continues, and reports them', async () => {
  const { recent, log, lines } = open()
  const order: string[] = []
  const noting =
    <Outcome>(kind: string, outcome: Outcome) =>
    async () => {
      order.push(kind)
      return outcome
    }
  recent.note('end', noting('end', 'made again' as const))
  recent.note('access', noting('access', 'is there' as const))
  recent.note('creation', possibleAtTry(3))
  await recent.redo(db, log)
  expect(order).toEqual(['access', 'end'])
  expect(lines).toMatchObject([{ tokensAndRevocations: 0, filesCreated: 1, filesFinished: 1, notYet: 0 }])
})

it('retries a first step that fails, and then repeats the commits', async () => {
  const { recent, log, lines } = open()
  let tries = 0
  recent.first(async () => {
    tries += 1
    if (tries < 3) throw new Error('deadlock detected')
  })
  recent.note('end', async () => (tries < 3 ? Promise.reject(new Error('leased')) : 'made again'))
  await recent.redo(db, log)
  expect(tries).toBe(3)
  expect(lines).toMatchObject([{ filesFinished: 1, notYet: 0 }])
})

it('reports commits that it could not repeat yet', async () => {
  const { recent, log, lines } = open()
  recent.note('end', possibleAtTry(Number.POSITIVE_INFINITY))
  await recent.redo(db, log)
  expect(lines).toMatchObject([{ filesFinished: 0, notYet: 1 }])
})

it.each(['end', 'object'] as const)('repeats an %s that was refused after its check', async (kind) => {
  const { recent, log, lines, advance } = open()
  const { later } = await recent.redo(db, log)
  const made = new Promise<void>((resolve) => {
    recent.doubt(kind, async () => {
      resolve()
      return 'made again'
    })
  })
  const done = later()
  await made
  advance(60_000)
  await done
  expect(lines).toMatchObject([{ filesFinished: 1, notYet: 0 }])
})

it('forgets commits after a minute, and is settled ten seconds after a different server was found', async () => {
  const { recent, log, advance } = open()
  let times = 0
  recent.note('end', async () => {
    times += 1
    return 'is there'
  })
  expect(recent.isSettling()).toBe(false)
  await recent.redo(db, log)
  expect(recent.isSettling()).toBe(true)
  advance(10_000)
  expect(recent.isSettling()).toBe(false)
  expect(times).toBe(1)
  advance(60_000)
  await recent.redo(db, log)
  expect(times).toBe(1)
})

it('still repeats commits from before an outage that took longer than that', async () => {
  const { recent, log, advance } = open()
  const repeated: string[] = []
  const note = (name: string) =>
    recent.note('end', async () => {
      repeated.push(name)
      return 'is there'
    })
  note('first')
  advance(30_000)
  note('second')
  recent.outageBegan()
  advance(600_000)
  await recent.redo(db, log)
  expect(repeated.splice(0)).toEqual(['first', 'second'])
  recent.outageEnded()
  advance(30_001)
  await recent.redo(db, log)
  expect(repeated).toEqual(['second'])
})

it.each(['end', 'object'] as const)(
  'keeps trying to repeat an %s if the new server fails in turn',
  async (kind) => {
    const { recent, log, lines, advance } = open()
    let isPossible = false
    const tried = { times: 0 }
    recent.note(kind, async () => {
      tried.times += 1
      if (!isPossible) throw new Error('not yet')
      return 'made again'
    })
    const { later } = await recent.redo(db, log)
    const done = later()
    recent.outageBegan()
    advance(90_000)
    expect(recent.isSettling()).toBe(true)
    const { times } = tried
    await vi.waitFor(() => expect(tried.times).toBeGreaterThan(times), 3000)
    recent.outageEnded()
    isPossible = true
    const { times: before } = tried
    await vi.waitFor(() => expect(tried.times).toBeGreaterThan(before), 3000)
    advance(60_001)
    await done
    expect(recent.isSettling()).toBe(false)
    expect(lines.at(-1)).toMatchObject({ filesFinished: 1, notYet: 0 })
  },
)

it.each(['end', 'object'] as const)('leaves an %s to the next server, and ends on this one', async (kind) => {
  const { recent, log, lines } = open()
  const crashing = {} as Db
  let tries = 0
  const older = await recent.redo(crashing, log)
  recent.doubt(kind, async (server) => {
    if (server !== crashing) return 'made again'
    tries += 1
    throw new Error('not yet')
  })
  const ended = older.later()
  await vi.waitFor(() => expect(tries).toBeGreaterThan(0), 3000)
  const triesBefore = tries
  await recent.redo(db, log)
  expect(lines).toMatchObject([{ filesFinished: 1, notYet: 0 }])
  await ended
  expect(tries).toBe(triesBefore)
  expect(lines).toHaveLength(1)
})

it('repeats nothing on a server that was replaced before its first steps were done', async () => {
  const { recent, log } = open()
  const hung = Promise.withResolvers<void>()
  const done: string[] = []
  recent.first(async (server) => {
    done.push(server === db ? 'first step on the next' : 'first step')
    if (server !== db) await hung.promise
  })
  recent.note('end', async (server) => {
    done.push(server === db ? 'end on the next' : 'end')
    return 'is there'
  })
  const older = recent.redo({} as Db, log)
  await recent.redo(db, log)
  hung.reject(new Error('the connection has ended'))
  const { later } = await older
  await later()
  expect(done).toEqual(['first step', 'first step on the next', 'end on the next'])
})
