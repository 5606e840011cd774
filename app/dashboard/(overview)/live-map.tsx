import { clsx } from 'clsx'
import { TriangleAlert } from 'lucide-react'
import Link from 'next/link'
import { formatCount } from '#components/format.ts'
import { Panel } from '#components/ui/panel.tsx'
import type { MapNode, MapShape, MapState, Place } from '#lib/dashboard/overview/draw-map.ts'

/** The heights of a node with its margin, and of a column's title, in pixels. */
const ROW = 48
const HEAD = 28
/** The widths of a column and of the gap after it, in percent. */
const WIDTH = 27
const GAP = 9.5

const EDGES: Record<MapState, string> = {
  failing: 'stroke-bad stroke-2',
  moving: 'animate-flow stroke-2 stroke-water [stroke-dasharray:6_4]',
  working: 'stroke-[1.5px] stroke-water-line',
  idle: 'stroke-line',
}
const TITLES = ['Sources', 'Pipes', 'Data Stores', 'Webhooks']
const PATHS = [
  '/dashboard/pipes',
  '/dashboard/pipes',
  '/dashboard/data-stores',
  '/dashboard/settings/outputs',
]

/**
 * How files flow from sources through Pipes to Data Stores and webhooks. The nodes are lists; the lines between them are
 * a drawing behind the lists, which narrow screens replace with the names of the nodes that each node sends to.
 */
export function LiveMap({ map: { columns, edges } }: { map: MapShape }) {
  const tops = [HEAD, HEAD, HEAD, 2 * HEAD + columns[2]!.length * ROW]
  const height = Math.max(...columns.map((nodes, column) => tops[column]! + nodes.length * ROW))
  const line = ({ from, to }: { from: Place; to: Place }) => {
    const [x1, x2] = [from[0] * (WIDTH + GAP) + WIDTH, Math.min(to[0], 2) * (WIDTH + GAP)]
    const [y1, y2] = [from, to].map(([column, row]) => tops[column]! + (row + 0.5) * ROW - 4)
    return `M${x1} ${y1}C${(x1 + x2) / 2} ${y1} ${(x1 + x2) / 2} ${y2} ${x2} ${y2}`
  }
  const list = (column: number) =>
    columns[column]!.length > 0 && <Column column={column} nodes={columns[column]!} />
  return (
    <Panel title="Now" description="The last 24 hours. What fails or moves comes first.">
      <div className="relative grid grid-cols-1 gap-y-4 md:grid-cols-[27%_27%_27%] md:justify-between">
        <svg
          aria-hidden
          className="absolute inset-x-0 top-0 hidden w-full fill-none md:block"
          style={{ height }}
          viewBox={`0 0 100 ${height}`}
          preserveAspectRatio="none"
        >
          {edges.map((edge) => (
            <path
              key={line(edge)}
              d={line(edge)}
              className={EDGES[edge.state]}
              vectorEffect="non-scaling-stroke"
            />
          ))}
        </svg>
        <div>{list(0)}</div>
        <div>{list(1)}</div>
        <div>
          {list(2)}
          {list(3)}
        </div>
      </div>
    </Panel>
  )
}

function Column({ column, nodes }: { column: number; nodes: MapNode[] }) {
  return (
    <div className="relative">
      <h3 className="h-7 text-ink-faint text-xs">{TITLES[column]}</h3>
      <ul aria-label={TITLES[column]}>
        {nodes.map((node) => (
          <li key={node.id ?? 'more'} className="pb-2 md:h-12">
            <Link
              href={hrefOf(column, node)}
              className={clsx(
                'flex min-h-10 items-center gap-2 rounded-md border bg-surface px-2.5 text-sm hover:bg-hover max-md:py-1.5',
                node.state === 'failing' ? 'border-bad/50' : 'border-line-strong',
              )}
            >
              {node.state === 'failing' && (
                <TriangleAlert className="size-4 shrink-0 text-bad" aria-label="Failing" />
              )}
              <span className="min-w-0 flex-1">
                <span className="flex items-baseline gap-1.5">
                  <span className="min-w-8 truncate font-medium">{node.name}</span>
                  {node.hint && (
                    <span className="max-w-4/5 shrink-0 truncate text-ink-soft text-xs" title={node.hint}>
                      {node.hint}
                    </span>
                  )}
                </span>
                <span className="tnum block truncate text-ink-soft text-xs empty:hidden">{textOf(node)}</span>
                {node.to.length > 0 && (
                  <span className="block truncate text-ink-faint text-xs md:sr-only">
                    sends to {node.to.join(', ')}
                  </span>
                )}
              </span>
            </Link>
          </li>
        ))}
      </ul>
    </div>
  )
}

function hrefOf(column: number, { id, state }: MapNode): string {
  if (id === null || column === 0) return PATHS[column]!
  if (column < 3) return `${PATHS[column]}/${id}`
  return state === 'failing' ? `/dashboard/webhooks?outputId=${id}` : `/dashboard/webhooks/outputs/${id}`
}

function textOf({ counts, fault, isPartial }: MapNode): string {
  const { uploading = 0, awaiting = 0, transferred = 0, lost = 0, retrying = 0 } = counts
  const atLeast = (count: number) => `${formatCount(count)}${isPartial ? ' or more' : ''}`
  const parts = [
    fault,
    retrying > 0 && `${atLeast(retrying)} not accepted, retrying`,
    awaiting > 0 && `${atLeast(awaiting)} awaiting a decision`,
    uploading > 0 && `${atLeast(uploading)} uploading`,
    lost > 0 && `${formatCount(lost)} failed`,
    transferred > 0 && `${formatCount(transferred)} transferred`,
  ]
  return parts.filter(Boolean).join(', ')
}
