import { expect, it } from 'vitest'
import { readSearch } from './page-query.ts'

it('leaves out what the database does not accept, and takes the first of several values', async () => {
  const search = { pipeId: '\0', search: 'a\ud800', status: ['failed', 'expired'], order: 'oldest' }
  expect(await readSearch(Promise.resolve(search))).toEqual({ status: 'failed', order: 'oldest' })
})
