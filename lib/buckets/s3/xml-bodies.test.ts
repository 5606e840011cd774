import { expect, it } from 'vitest'
import type { Call } from '../call-bucket.ts'
import { listPage } from './xml-bodies.ts'

const entry = (key: string) =>
  `<Contents><Key>${key}</Key><LastModified>2026-11-22T14:00:00.000Z</LastModified><Size>7</Size></Contents>`
const answering = (xml: string) => {
  const calls: Call[] = []
  const call = async (asked: Call) => {
    calls.push(asked)
    return { status: 200, headers: {}, body: Buffer.from(`<ListBucketResult>${xml}</ListBucketResult>`) }
  }
  return { calls, call }
}

it('decodes keys, and returns the continuation token of the next page', async () => {
  const more = '<IsTruncated>true</IsTruncated><NextContinuationToken>a&amp;b</NextContinuationToken>'
  const { calls, call } = answering(`${more}${entry('a%2Bb+c%C3%A9.mp4')}${entry('d')}`)
  const page = await listPage(call, { prefix: 'in/', from: 'there' })
  const modifiedMs = Date.parse('2026-11-22T14:00:00Z')
  const objects = ['a+b cé.mp4', 'd'].map((key) => ({ key, bytes: 7, modifiedMs }))
  expect(page).toEqual({ objects, next: 'a&b' })
  expect(calls[0]!.query).toMatchObject({ prefix: 'in/', 'continuation-token': 'there' })
})

it('returns no token for the last page, and rejects a truncated page without a token', async () => {
  const last = answering('<IsTruncated>false</IsTruncated>')
  expect(await listPage(last.call, { prefix: '', from: null })).toEqual({ objects: [], next: null })
  expect(last.calls[0]!.query).not.toHaveProperty('continuation-token')
  const broken = answering('<IsTruncated>true</IsTruncated>')
  await expect(listPage(broken.call, { prefix: '', from: null })).rejects.toThrow('ListObjectsV2')
})
