import { GROWING } from './grow.ts'

/** The relevant part of PostgreSQL's JSON plan. Rows are per loop. */
export type PlanNode = {
  'Node Type': string
  'Relation Name'?: string
  'Index Name'?: string
  'Actual Rows'?: number
  'Actual Loops'?: number
  'Rows Removed by Filter'?: number
  'Rows Removed by Index Recheck'?: number
  Plans?: PlanNode[]
}

/** Matches the month in a partition's name. */
const MONTH = /_(\d{4}_\d\d|default)(?=_|$)/
const tableOf = (node: PlanNode) => node['Relation Name']?.replace(MONTH, '') ?? ''
const indexOf = (node: PlanNode) => node['Index Name']?.replace(MONTH, '')
const isGrowing = (node: PlanNode) => GROWING.includes(tableOf(node))
const isRun = (node: PlanNode) => node['Actual Loops'] !== 0

/** The node and everything below it. */
export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

/** The number of rows that a statement read from growing tables, whether it used them or not. */
export function rowsRead(plan: PlanNode): number {
  return nodesOf(plan)
    .filter((node) => isGrowing(node) && /Scan$/.test(node['Node Type']))
    .reduce((sum, node) => sum + touched(node), 0)
}

function touched(node: PlanNode): number {
  const rows = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Index Recheck'] as const
  return rows.reduce((sum, name) => sum + (node[name] ?? 0), 0) * (node['Actual Loops'] ?? 0)
}

/** A month with hardly any rows, such as one whose last hour is still kept, is fastest to read completely. */
const SMALL_MONTH_ROWS = 500

/** The growing tables that a plan scans completely, not counting small months. */
export function scansWhole(plan: PlanNode): string[] {
  return nodesOf(plan)
    .filter((node) => node['Node Type'] === 'Seq Scan' && isRun(node) && isGrowing(node))
    .filter((node) => tableOf(node) === node['Relation Name'] || touched(node) > SMALL_MONTH_ROWS)
    .map(tableOf)
}

/** The largest number of months that a plan reads from any table. */
export function monthsRead(plan: PlanNode): number {
  const parts = nodesOf(plan).filter((node) => isRun(node) && tableOf(node) !== node['Relation Name'])
  const byTable = Map.groupBy(parts, tableOf)
  return Math.max(
    0,
    ...[...byTable.values()].map((of) => new Set(of.map((node) => node['Relation Name'])).size),
  )
}

/** The number of rows in a plan's largest sort. */
export function rowsSorted(plan: PlanNode): number {
  const sorts = nodesOf(plan).filter((node) => /Sort$/.test(node['Node Type']))
  const inputs = sorts.flatMap((node) => node.Plans ?? [])
  return Math.max(0, ...inputs.map((node) => (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 0)))
}

/** The plan as an indented tree, without volatile values, and without months that it did not read. */
export function draw(node: PlanNode, depth = 0): string[] {
  const { 'Node Type': type, 'Relation Name': relation } = node
  const index = indexOf(node)
  const of = [relation && `of ${relation}`, index && `by ${index}`].filter(Boolean).join(' ')
  const rows = `${touched(node)} rows`
  const line = `${'  '.repeat(depth)}${[type, of].filter(Boolean).join(' ')}: ${rows}`
  const below = (node.Plans ?? []).filter(
    (one) => isRun(one) || tableOf(one) === (one['Relation Name'] ?? ''),
  )
  return [line, ...below.flatMap((one) => draw(one, depth + 1))]
}
