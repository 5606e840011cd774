import { expect, it } from 'vitest'
import { drawMap, type MapInput } from './draw-map.ts'

type Pipe = MapInput['pipes'][number]

/** Pipes that all send to one of two Data Stores, and one whose files are moving. */
function workspaceOf(count: number): MapInput {
  const pipes = Array.from(
    { length: count },
    (_, n): Pipe => ({
      id: `pipe_${n}`,
      name: `Pipe ${n}`,
      sources: n % 2 ? ['HTTP (TUS)'] : ['HTTP (TUS)', 'URL'],
      stores: [n % 3 ? 'main' : 'archive'],
      transferred: n,
      lost: 0,
      uploading: n === 1 ? 2 : 0,
      awaiting: 0,
      moving: n === 1,
      isPartial: false,
    }),
  )
  return {
    pipes,
    stores: [
      { id: 'main', name: 'Main', fault: null },
      { id: 'archive', name: 'Archive', fault: null },
    ],
    outputs: [
      {
        id: 'output',
        name: 'Webhook',
        url: 'https://a.example/hook',
        scope: 'pipe_1',
        retrying: 0,
        isPartial: false,
        fault: null,
      },
    ],
  }
}
const draw = (count: number, change: Partial<MapInput> = {}) => drawMap({ ...workspaceOf(count), ...change })

it.each([
  [3, ['Pipe 1', 'Pipe 2', 'Pipe 0']],
  [30, ['Pipe 1', 'Pipe 29', 'Pipe 28', 'Pipe 27', 'Pipe 26', 'Pipe 25', 'Pipe 24', '23 more']],
  [300, ['Pipe 1', 'Pipe 299', 'Pipe 298', 'Pipe 297', 'Pipe 296', 'Pipe 295', 'Pipe 294', '293 more']],
])('shows %i Pipes, those with moving bytes and many files by name', (count, names) => {
  const { columns, edges } = draw(count)
  expect(columns[1]!.map(({ name }) => name)).toEqual(names)
  expect(columns[1]!.reduce((sum, { counts }) => sum + counts.transferred!, 0)).toBe(
    (count * (count - 1)) / 2,
  )
  expect(columns[0]![0]!.to).toEqual(names)
  for (const { from, to } of edges)
    for (const [column, row] of [from, to]) expect(columns[column]![row]).toBeDefined()
  const moving = edges.filter(({ state }) => state === 'moving').map(({ from, to }) => [from[0], to[0]])
  expect(moving).toEqual([
    [0, 1],
    [1, 2],
    [1, 3],
  ])
})

it('shows a rejecting Data Store and a failing webhook first, with the Pipes that send to them', () => {
  const { stores, outputs } = workspaceOf(0)
  const { columns, edges } = draw(30, {
    stores: stores.map((store) => ({
      ...store,
      fault: store.id === 'archive' ? 'rejecting uploads' : null,
    })),
    outputs: outputs.map((output) => ({ ...output, retrying: 3 })),
  })
  expect(columns[2]!.map(({ name, state }) => [name, state])).toEqual([
    ['Archive', 'failing'],
    ['Main', 'moving'],
  ])
  expect(columns[1]!.slice(0, 2)).toMatchObject([
    { name: 'Pipe 27', state: 'failing', to: ['Archive'] },
    { name: 'Pipe 24', state: 'failing' },
  ])
  expect(columns[2]![0]!.fault).toBe('rejecting uploads')
  expect(columns[3]).toMatchObject([{ name: 'a.example', state: 'failing', counts: { retrying: 3 } }])
  // The way into a failing Pipe works.
  expect(edges.filter(({ from, state }) => from[0] === 0 && state === 'failing')).toEqual([])
})

it.each([
  ['off', 'idle'],
  ['turned off', 'failing'],
] as const)('shows a webhook that is %s as %s', (fault, state) => {
  const outputs = workspaceOf(0).outputs.map((output) => ({ ...output, fault }))
  expect(draw(3, { outputs }).columns[3]).toMatchObject([{ name: 'a.example', fault, state }])
})

it('tells outputs at one host apart by their path, and those at one address by their Pipe and name', () => {
  const [output] = workspaceOf(0).outputs
  const outputs = [
    { ...output!, id: 'orders', url: 'https://a.example/orders' },
    { ...output!, id: 'invoices', url: 'https://a.example/invoices?token=secret' },
    { ...output!, id: 'first', url: 'https://b.example/hook' },
    { ...output!, id: 'all', url: 'https://b.example/hook', scope: 'workspace', name: 'Archive' },
  ]
  const { columns } = draw(3, { outputs })
  expect(columns[3]!.map(({ id, name, hint }) => [id, name, hint])).toEqual([
    ['orders', 'a.example', '/orders'],
    ['invoices', 'a.example', '/invoices'],
    ['first', 'b.example', 'Pipe 1: Webhook'],
    ['all', 'b.example', 'All Pipes: Archive'],
  ])
  expect(columns[1]!.find(({ name }) => name === 'Pipe 1')!.to).toContain('a.example (/orders)')
  expect(draw(3).columns[3]).toMatchObject([{ name: 'a.example', hint: undefined }])
})
