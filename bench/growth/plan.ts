import { GROWING } from './grow.ts'

/** Of PostgreSQL's JSON what is looked at here. Rows are those of one loop. */
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

/** The node and all below it. */
export function nodesOf(node: PlanNode): PlanNode[] {
  return [node, ...(node.Plans ?? []).flatMap(nodesOf)]
}

/** What a statement took out of tables that grow, whether it could use it or not. */
export function rowsRead(plan: PlanNode): number {
  return nodesOf(plan)
    .filter((node) => GROWING.includes(node['Relation Name'] ?? '') && /Scan$/.test(node['Node Type']))
    .reduce((sum, node) => sum + touched(node), 0)
}

function touched(node: PlanNode): number {
  const rows = ['Actual Rows', 'Rows Removed by Filter', 'Rows Removed by Index Recheck'] as const
  return rows.reduce((sum, name) => sum + (node[name] ?? 0), 0) * (node['Actual Loops'] ?? 0)
}

/** The tables that grow of which it goes through every row. */
export function scansWhole(plan: PlanNode): string[] {
  return nodesOf(plan)
    .filter((node) => node['Node Type'] === 'Seq Scan' && node['Actual Loops'] !== 0)
    .map((node) => node['Relation Name']!)
    .filter((table) => GROWING.includes(table))
}

/** The most rows that one of its sorts has put in order. */
export function rowsSorted(plan: PlanNode): number {
  const sorts = nodesOf(plan).filter((node) => node['Node Type'] === 'Sort')
  const inputs = sorts.flatMap((node) => node.Plans ?? [])
  return Math.max(0, ...inputs.map((node) => (node['Actual Rows'] ?? 0) * (node['Actual Loops'] ?? 0)))
}

/** How it gets at the tables that grow: by which index, or whole. */
export function waysOf(plan: PlanNode): string[] {
  const ways = nodesOf(plan)
    .filter((node) => node['Actual Loops'] !== 0)
    .flatMap((node) => {
      if (node['Index Name']) return [node['Index Name']]
      return node['Node Type'] === 'Seq Scan' && GROWING.includes(node['Relation Name'] ?? '')
        ? [`all of ${node['Relation Name']}`]
        : []
    })
  return [...new Set(ways)]
}

/** The plan as a tree of lines, without what depends on the moment. */
export function draw(node: PlanNode, depth = 0): string[] {
  const { 'Node Type': type, 'Relation Name': relation, 'Index Name': index } = node
  const of = [relation && `of ${relation}`, index && `by ${index}`].filter(Boolean).join(' ')
  const rows = `${touched(node)} rows`
  const line = `${'  '.repeat(depth)}${[type, of].filter(Boolean).join(' ')}: ${rows}`
  return [line, ...(node.Plans ?? []).flatMap((below) => draw(below, depth + 1))]
}
