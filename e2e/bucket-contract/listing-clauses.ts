import { ListObjectsV2Command, PutObjectCommand } from '@aws-sdk/client-s3'
import { expect } from 'vitest'
import type { Ground, Prove } from './ground.ts'

/** Creates objects under a new prefix, and returns that prefix. */
async function planted({ s3, target }: Ground, names: string[]): Promise<{ Bucket: string; Prefix: string }> {
  const { Bucket, Key: Prefix } = target('')
  for (const name of names) await s3.send(new PutObjectCommand({ Bucket, Key: Prefix + name, Body: name }))
  return { Bucket, Prefix }
}

const namesOf = (keys: { Key?: string }[] | undefined, prefix: string) =>
  keys?.map(({ Key }) => Key?.slice(prefix.length))

export const listingClauses = {
  'lists keys in byte order, with size, time and ETag': async (ground) => {
    const where = await planted(ground, ['b/a', 'ä', 'b-a', 'b.a', 'a', '\u{1F600}', '\uFF5E'])
    const { Contents, KeyCount, IsTruncated } = await ground.s3.send(new ListObjectsV2Command(where))
    expect(namesOf(Contents, where.Prefix)).toEqual(['a', 'b-a', 'b.a', 'b/a', 'ä', '\uFF5E', '\u{1F600}'])
    expect({ KeyCount, IsTruncated }).toEqual({ KeyCount: 7, IsTruncated: false })
    expect(Contents![0]).toMatchObject({
      Size: 1,
      ETag: '"0cc175b9c0f1b6a831c399e269772661"',
      LastModified: expect.any(Date),
      StorageClass: 'STANDARD',
    })
  },
  'lists page by page, each key once': async (ground) => {
    const names = Array.from({ length: 7 }, (_, n) => `${n % 2 ? 'x' : 'y'}/${n}`)
    const where = await planted(ground, names)
    const seen: (string | undefined)[] = []
    let ContinuationToken: string | undefined
    let pages = 0
    do {
      const page = await ground.s3.send(new ListObjectsV2Command({ ...where, MaxKeys: 3, ContinuationToken }))
      seen.push(...namesOf(page.Contents, where.Prefix)!)
      expect(page.IsTruncated).toBe(page.NextContinuationToken !== undefined)
      ContinuationToken = page.NextContinuationToken
      pages += 1
    } while (ContinuationToken)
    expect(seen).toEqual([...names].sort())
    expect(pages).toBe(3)
  },
  'groups keys by a delimiter, page by page': async (ground) => {
    const where = await planted(ground, ['a/1', 'a/2', 'b', 'c/1', 'c/d/2', 'e'])
    const first = await ground.s3.send(new ListObjectsV2Command({ ...where, Delimiter: '/', MaxKeys: 3 }))
    const { NextContinuationToken: ContinuationToken } = first
    const rest = await ground.s3.send(
      new ListObjectsV2Command({ ...where, Delimiter: '/', ContinuationToken }),
    )
    const both = [first, rest].map(({ CommonPrefixes, Contents }) => [
      CommonPrefixes?.map(({ Prefix }) => Prefix?.slice(where.Prefix.length)),
      namesOf(Contents, where.Prefix),
    ])
    expect(both).toEqual([
      [['a/', 'c/'], ['b']],
      [undefined, ['e']],
    ])
  },
  'lists the keys after a given one': async (ground) => {
    const where = await planted(ground, ['a', 'b', 'c'])
    const { Contents } = await ground.s3.send(
      new ListObjectsV2Command({ ...where, StartAfter: `${where.Prefix}a` }),
    )
    expect(namesOf(Contents, where.Prefix)).toEqual(['b', 'c'])
  },
  'accepts a prefix that ends within a name': async (ground) => {
    const where = await planted(ground, ['film-1', 'film-2/a', 'photo'])
    const { Contents } = await ground.s3.send(
      new ListObjectsV2Command({ ...where, Prefix: `${where.Prefix}film-` }),
    )
    expect(namesOf(Contents, where.Prefix)).toEqual(['film-1', 'film-2/a'])
  },
  'returns an empty list for a prefix without keys': async (ground) => {
    const where = await planted(ground, [])
    const { Contents, KeyCount } = await ground.s3.send(new ListObjectsV2Command(where))
    expect({ Contents, KeyCount }).toEqual({ Contents: undefined, KeyCount: 0 })
  },
} satisfies Record<string, Prove>
