export type MapState = 'failing' | 'moving' | 'working' | 'idle'
type Counts = Partial<Record<'uploading' | 'awaiting' | 'transferred' | 'lost' | 'retrying', number>>
export type MapNode = {
  /** Null for a node that stands for several. */
  id: string | null
  name: string
  /** Tells it apart from others with the same name. */
  hint?: string | undefined
  state: MapState
  /** Why nothing passes, such as `off`. */
  fault: string | null
  counts: Counts
  /** Whether there may be more open uploads or webhooks than were counted. */
  isPartial?: boolean
  /** The names of the nodes that it sends to. */
  to: string[]
}
/** The indices of a column and of a node in it. */
export type Place = readonly [column: number, row: number]
type MapEdge = { from: Place; to: Place; state: MapState }
/** The columns are sources, Pipes, Data Stores and webhook outputs. */
export type MapShape = { columns: MapNode[][]; edges: MapEdge[] }

export type MapInput = {
  pipes: (Required<Omit<Counts, 'retrying'>> & {
    id: string
    name: string
    sources: string[]
    stores: string[] | null
    moving: boolean
    isPartial: boolean
  })[]
  stores: { id: string; name: string; fault: string | null }[]
  /** `scope` is a Pipe's id or, for an output that gets the events of all Pipes, the workspace's. */
  outputs: {
    id: string
    name: string
    url: string
    scope: string
    retrying: number
    isPartial: boolean
    fault: 'off' | 'turned off' | null
  }[]
}

/** The most nodes in each column. The last one stands for those that do not fit. */
const ROWS = [3, 8, 5, 4]
/** The first of several is shown. */
const STATES: MapState[] = ['failing', 'moving', 'working', 'idle']

type Key = readonly [column: number, id: string]
type Link = { from: Key; to: Key; state: MapState }
type Named = Pick<MapNode, 'name' | 'hint' | 'fault' | 'counts' | 'isPartial'> & { id: string }

/** Arranges the nodes so that those that fail come first, followed by those with moving bytes and with the most files. */
export function drawMap(input: MapInput): MapShape {
  const links = linksOf(input)
  const stateOf = strongestBy(
    links.flatMap(({ from, to, state }) => [from, to].map((key) => [key.join(), state] as const)),
  )
  const { pipes, stores } = input
  const sources = [...new Set(pipes.flatMap((pipe) => pipe.sources))].sort()
  const named: Named[][] = [
    sources.map((name) => ({ id: name, name, fault: null, counts: {} })),
    pipes.map(({ id, name, isPartial, uploading, awaiting, transferred, lost }) => ({
      id,
      name,
      isPartial,
      fault: null,
      counts: { uploading, awaiting, transferred, lost },
    })),
    stores.map(({ id, name, fault }) => ({ id, name, fault, counts: {} })),
    nameOutputs(input),
  ]
  const arranged = named.map((nodes, column) =>
    arrange(
      nodes.map((node) => ({ ...node, state: stateOf.get([column, node.id].join()) ?? 'idle' })),
      ROWS[column]!,
    ),
  )
  const place = ([column, id]: Key): Place => [column, arranged[column]!.rowOf.get(id)!]
  const edges = strongestBy(
    links.map(({ from, to, state }) => [JSON.stringify([place(from), place(to)]), state] as const),
  )
  return connect(
    arranged.map(({ shown }) => shown),
    edges,
  )
}

/** Outputs at one host are told apart by their path or, if they share it, by what they belong to. */
function nameOutputs({ outputs, pipes }: MapInput): Named[] {
  const pipeNames = new Map(pipes.map(({ id, name }) => [id, name]))
  const urls = outputs.map(({ url }) => new URL(url))
  const atHost = Map.groupBy(urls, ({ host }) => host)
  const atPath = Map.groupBy(urls, ({ host, pathname }) => host + pathname)
  return outputs.map(({ id, name, scope, retrying, isPartial, fault }, n) => {
    const { host, pathname } = urls[n]!
    const isAlone = atHost.get(host)!.length === 1
    const isPathAlone = atPath.get(host + pathname)!.length === 1
    const hint = isPathAlone ? pathname : `${pipeNames.get(scope) ?? 'All Pipes'}: ${name}`
    return { id, name: host, hint: isAlone ? undefined : hint, isPartial, fault, counts: { retrying } }
  })
}

function linksOf({ pipes, stores, outputs }: MapInput): Link[] {
  const faults = new Map(stores.map(({ id, fault }) => [id, fault]))
  const byScope = Map.groupBy(outputs, ({ scope }) => (scope.startsWith('pipe_') ? scope : 'all'))
  return pipes.flatMap((pipe) => {
    const self: Key = [1, pipe.id]
    const isUsed = pipe.transferred + pipe.lost + pipe.uploading + pipe.awaiting > 0
    const flow: MapState = pipe.moving ? 'moving' : isUsed ? 'working' : 'idle'
    const own = [...(byScope.get(pipe.id) ?? []), ...(byScope.get('all') ?? [])]
    return [
      ...pipe.sources.map((name): Link => ({ from: [0, name], to: self, state: flow })),
      ...(pipe.stores ?? [])
        .filter((id) => faults.has(id))
        .map((id): Link => ({ from: self, to: [2, id], state: faults.get(id) ? 'failing' : flow })),
      ...own.map(
        (output): Link => ({ from: self, to: [3, output.id], state: stateOfOutput(output) ?? flow }),
      ),
    ]
  })
}

/** An output that was switched off on purpose is idle. */
function stateOfOutput({ retrying, fault }: MapInput['outputs'][number]): MapState | undefined {
  if (retrying > 0 || fault === 'turned off') return 'failing'
  return fault ? 'idle' : undefined
}

function strongestBy(states: (readonly [key: string, state: MapState])[]): Map<string, MapState> {
  const strongest = new Map<string, MapState>()
  for (const [key, state] of states) {
    const before = strongest.get(key)
    if (!before || STATES.indexOf(state) < STATES.indexOf(before)) strongest.set(key, state)
  }
  return strongest
}

type Stated = Named & { state: MapState }

function arrange(
  nodes: Stated[],
  rows: number,
): { shown: Omit<MapNode, 'to'>[]; rowOf: Map<string, number> } {
  const sorted = nodes.toSorted(
    (a, b) =>
      STATES.indexOf(a.state) - STATES.indexOf(b.state) ||
      (b.counts.transferred ?? 0) - (a.counts.transferred ?? 0),
  )
  const kept = sorted.length > rows ? rows - 1 : sorted.length
  const rest = sorted.slice(kept)
  const rowOf = new Map(sorted.map(({ id }, row) => [id, Math.min(row, kept)]))
  if (rest.length === 0) return { shown: sorted, rowOf }
  const more = {
    id: null,
    name: `${rest.length} more`,
    state: rest[0]!.state,
    fault: null,
    counts: sumOf(rest),
    isPartial: rest.some(({ isPartial }) => isPartial),
  }
  return { shown: [...sorted.slice(0, kept), more], rowOf }
}

function sumOf(nodes: Stated[]): Counts {
  const sum: Counts = {}
  for (const { counts } of nodes)
    for (const [what, count] of Object.entries(counts) as [keyof Counts, number][])
      sum[what] = (sum[what] ?? 0) + count
  return sum
}

function connect(columns: Omit<MapNode, 'to'>[][], states: Map<string, MapState>): MapShape {
  const edges = [...states].map(([key, state]): MapEdge => {
    const [from, to] = JSON.parse(key) as [Place, Place]
    return { from, to, state }
  })
  const namesAfter = (column: number, row: number) =>
    edges
      .filter(({ from }) => from[0] === column && from[1] === row)
      .sort((a, b) => a.to[0] - b.to[0] || a.to[1] - b.to[1])
      .map(({ to }) => columns[to[0]]![to[1]]!)
      .map(({ name, hint }) => (hint ? `${name} (${hint})` : name))
  return {
    columns: columns.map((nodes, column) =>
      nodes.map((node, row) => ({ ...node, to: namesAfter(column, row) })),
    ),
    edges,
  }
}
