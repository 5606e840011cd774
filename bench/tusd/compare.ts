import { closeIdle, percentile } from '../load.ts'
import type { Finding, Value } from '../report.ts'
import { BY_DEFAULT, type Contender, type Name, type Way } from './line-up.ts'
import { type Load, PIPES } from './loads.ts'

/** Medians, and the minimum and maximum CPU of a round, including PostgreSQL's. */
type Figures = Round & { range: [least: number, most: number] }
type Round = { cpu: number; database: number; perSecond: number }

/**
 * Unmeasured rounds at the start of each load. A server runs for days, but V8 needs hundreds of requests to compile
 * what they use, and PostgreSQL plans each statement five times per connection before it keeps a plan.
 */
export const WARM_UPS = 8
/** For @tus, which takes four times as long as all others and has no goals to meet. */
const FEW_WARM_UPS = 2

/** Measures a load for all contenders, which take turns. */
export async function measure(
  load: Load,
  contenders: Contender[],
  rounds: number,
): Promise<Map<Name, Figures>> {
  const able = contenders.filter(({ name }) => canDo(name, load))
  const taken = new Map<Name, Round[]>(able.map(({ name }) => [name, []]))
  for (let round = 0; round < WARM_UPS + rounds; round++)
    for (const one of able) {
      if (one.name === '@tus' && round < WARM_UPS - FEW_WARM_UPS) continue
      const figures = await once(load, one)
      if (round >= WARM_UPS) taken.get(one.name)!.push(figures)
    }
  const median = (all: Round[], of: keyof Round) =>
    percentile(
      all.map((figures) => figures[of]),
      0.5,
    )
  return new Map(
    [...taken].map(([name, all]) => {
      const medians = {
        cpu: median(all, 'cpu'),
        database: median(all, 'database'),
        perSecond: median(all, 'perSecond'),
      }
      const sums = all.map(sum)
      return [name, { ...medians, range: [Math.min(...sums), Math.max(...sums)] }]
    }),
  )
}

const sum = ({ cpu, database }: Round) => cpu + database

async function once(
  { amount, unit, run }: Load,
  { name, target, usage, database, settled }: Contender,
): Promise<Round> {
  closeIdle()
  const [before, databaseBefore, startedAt] = [await usage(), database(), performance.now()]
  await run(target, name)
  const seconds = (performance.now() - startedAt) / 1000
  await settled()
  return {
    cpu: ((await usage()).cpuSeconds - before.cpuSeconds) / amount,
    database: (database() - databaseBefore) / amount,
    perSecond: (amount * unit.perSecond) / seconds,
  }
}

export function judge(
  way: Way,
  { what, unit, most: mostAlone, mostByDefault, mostOfBare, mostOfFloor }: Load,
  taken: Map<Name, Figures>,
): Finding {
  const all = [...taken]
  const [ours, theirs] = [taken.get('Sluice')!, taken.get('tusd')!]
  const times = sum(ours) / sum(theirs)
  const most = way === BY_DEFAULT ? mostByDefault : mostAlone
  const limits: [string, number | undefined, Figures | undefined][] = [
    ["bare's", way === 'plain HTTP' ? undefined : mostOfBare, taken.get('bare')],
    ["the floor's", mostOfFloor, taken.get('floor')],
    ["the ledger floor's", mostOfFloor, taken.get('ledger floor')],
  ]
  const others = limits.flatMap(([whose, limit, figures]) =>
    figures ? [{ whose, limit, times: sum(ours) / sum(figures) }] : [],
  )
  const tooDear = others.some(({ limit, times }) => limit !== undefined && times > limit)
  const figure = ({ cpu, database, range: [least, most] }: Figures) =>
    `${cpu.toFixed(2)}${database > 0 ? ` + PostgreSQL ${database.toFixed(2)}` : ''} (${least.toFixed(2)}–${most.toFixed(2)})`
  const cpus = all.map(([name, figures]) => `${name} ${figure(figures)}`).join(', ')
  const rates = all.map(([name, { perSecond }]) => `${name} ${perSecond.toFixed(0)}`).join(', ')
  const values = (of: (figures: Figures) => number, unit: string): Value[] =>
    all.map(([name, figures]) => ({ name, value: of(figures), unit }))
  return {
    what,
    measured: `${times.toFixed(2)} times tusd's CPU${others.map(({ whose, times }) => `, ${times.toFixed(2)} times ${whose}`).join('')} (${unit.cpu}: ${cpus}); ${rates} ${unit.rate}`,
    wanted: `≤ ${most} times tusd's CPU${others.map(({ whose, limit }) => (limit ? `, ≤ ${limit} times ${whose}` : '')).join('')}; faster than tusd`,
    holds: times <= most && !tooDear && ours.perSecond > theirs.perSecond,
    values: [...values(sum, unit.cpu), ...values(({ perSecond }) => perSecond, unit.rate)],
  }
}

/**
 * Whether a contender supports a load. Bare pipes have no uploads, and @tus takes minutes for a thousand simultaneous
 * ones.
 */
export function canDo(name: Name, { mostOfBare, crowded }: Load): boolean {
  if (PIPES.includes(name)) return mostOfBare !== undefined
  return name !== '@tus' || !crowded
}
