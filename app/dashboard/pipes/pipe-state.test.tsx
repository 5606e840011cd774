import { renderToStaticMarkup } from 'react-dom/server'
import { expect, it } from 'vitest'
import { DataStoreState as State } from '#components/data-stores/data-store-state.tsx'
import type { DataStoreState } from '#lib/workspace/data-stores/sealed-data-store.ts'
import { BlockedNotice, PipeState } from './pipe-state.tsx'

const MAIN = '019ab1c2-7d3e-7a41-9c55-2f0e8d6b1a90'
const COPY = '019ab1c2-7d3e-7a41-9c55-2f0e8d6b1a91'

const textOf = (html: string) => html.replaceAll(/<[^>]*>/g, ' ')

function shown(main: DataStoreState, copy: DataStoreState, http = true) {
  const destinations = [
    { dataStoreId: MAIN, required: true },
    { dataStoreId: COPY, required: false },
  ]
  const pipe = { source: { http, url: false, sftp: false, ftps: false, ftp: false }, destinations }
  const states = new Map([
    [MAIN, main],
    [COPY, copy],
  ])
  const state = renderToStaticMarkup(<PipeState pipe={pipe} states={states} />)
  return {
    state: textOf(state).trim(),
    notice: renderToStaticMarkup(<BlockedNotice pipe={pipe} states={states} />),
  }
}

it('says that a Pipe accepts uploads once its required bucket is ready', () => {
  expect(shown('ready', 'unchecked')).toEqual({ state: 'accepts uploads', notice: '' })
  expect(shown('ready', 'off')).toEqual({ state: 'accepts uploads', notice: '' })
})

it('offers the check while the required bucket has not passed one', () => {
  const { state, notice } = shown('unchecked', 'ready')
  expect(state).toBe('bucket not ready')
  expect(textOf(notice)).toContain('until its bucket passes a check')
  expect(notice).toContain(`href="/dashboard/data-stores/${MAIN}"`)
})

it('leads to what is turned off if the required Data Store is', () => {
  const { state, notice } = shown('off', 'ready')
  expect(state).toBe('bucket not ready')
  expect(notice).toContain('href="/dashboard/settings/turned-off"')
})

it('only says that the source is off if no input is on', () => {
  expect(shown('unchecked', 'ready', false)).toEqual({ state: 'source off', notice: '' })
})

const PASSED = { checkedAt: '2026-11-28T10:00:00.000Z', ok: true, operations: [] }

it.each<[string, Parameters<typeof State>[0]]>([
  ['not checked', { check: null, state: 'unchecked' }],
  ['ready', { check: null, state: 'ready' }],
  ['checked', { check: PASSED, state: 'ready' }],
  ['problem', { check: { ...PASSED, ok: false }, state: 'unchecked' }],
  ['off', { check: PASSED, state: 'off' }],
])('shows a bucket as “%s”', (word, props) => {
  expect(textOf(renderToStaticMarkup(<State {...props} />)).trim()).toBe(word)
})
