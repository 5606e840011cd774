import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { type DestinationState, statusOf } from './file-status.ts'

type Status = DestinationState['status']
type Short = 'open' | 'transferred' | 'failed'

const DOCUMENT = readFileSync(join(import.meta.dirname, '../../../docs/destination-states.md'), 'utf8')
const tableOf = (heading: string) =>
  DOCUMENT.split(`## ${heading}\n`)[1]!
    .split('\n## ')[0]!
    .split('\n')
    .filter((line) => line.startsWith('| '))
    .slice(2)
    .map((line) =>
      line
        .split('|')
        .map((cell) => cell.trim())
        .slice(1, -1),
    )

const shortOf = (status: Status): Short =>
  status === 'pending' || status === 'transferring' ? 'open' : status

/** Evaluates a condition, such as `all transferred`, `some open`, `none failed, some open` or `any`. */
function holds(condition: string, statuses: readonly Status[]): boolean {
  return condition.split(', ').every((words) => {
    const [quantity, state] = words.split(' ')
    const has = (status: Status) => shortOf(status) === state
    if (quantity === 'any') return true
    if (quantity === 'all') return statuses.every(has)
    return quantity === 'none' ? !statuses.some(has) : statuses.some(has)
  })
}

const STATUSES: Status[] = ['pending', 'transferring', 'transferred', 'failed']
const sets = (count: number): Status[][] =>
  count === 0 ? [[]] : sets(count - 1).flatMap((set) => STATUSES.map((status) => [...set, status]))

/** Up to three required destinations and two best-effort ones, in each of their states. */
const ALL = [1, 2, 3].flatMap((required) =>
  [0, 1, 2].flatMap((others) =>
    sets(required).flatMap((a) => sets(others).map((b) => ({ required: a, others: b }))),
  ),
)
type Case = (typeof ALL)[number]
const decide = ({ required, others }: Case) =>
  statusOf([
    ...required.map((status) => ({ status, required: true })),
    ...others.map((status) => ({ status, required: false })),
  ])

const FILE = tableOf('The file, once its last byte has arrived') as [string, string, string][]

it.each(FILE)(
  'with required destinations: %s, and best-effort destinations: %s, the file is %s',
  (required, others, status) => {
    const cases = ALL.filter((one) => holds(required, one.required) && holds(others, one.others))
    expect(cases.length).toBeGreaterThan(0)
    expect(new Set(cases.map(decide))).toEqual(new Set([status]))
  },
)

it('has one row for each case', () => {
  for (const one of ALL)
    expect(FILE.filter(([a, b]) => holds(a, one.required) && holds(b, one.others))).toHaveLength(1)
})

const MOVES = tableOf('A destination').map(
  ([which, from, , to]) => [which, from, to] as [string, Short, Short],
)
const LATER = tableOf('Transitions after the file has ended').map(([from, to]) => `${from} to ${to}`)
const ENDS = new Set(['transferred', 'partially_transferred', 'failed'])

/** Finds what happens to ended files when one of their destinations makes this transition. */
function walk([which, from, to]: [string, Short, Short]): string[] {
  const sides = which === 'any' ? (['required', 'others'] as const) : (['others'] as const)
  return ALL.flatMap((one) =>
    sides.flatMap((side) =>
      one[side].flatMap((status, at) => {
        if (shortOf(status) !== from) return []
        const moved = { ...one, [side]: one[side].with(at, to as Status) }
        const [before, after] = [decide(one), decide(moved)]
        return ENDS.has(before) ? [before === after ? before : `${before} to ${after}`] : []
      }),
    ),
  )
}

it.each(MOVES)(
  '%s: a destination that goes from %s to %s changes an ended file as the table states',
  (...move) => {
    const walked = walk(move)
    expect(walked.length).toBeGreaterThan(0)
    expect(walked.filter((what) => !ENDS.has(what) && !LATER.includes(what))).toEqual([])
  },
)

it("has a row for each change of an ended file's status, and no other rows", () => {
  const changes = MOVES.flatMap(walk).filter((what) => !ENDS.has(what))
  expect(new Set(changes)).toEqual(new Set(LATER))
})
