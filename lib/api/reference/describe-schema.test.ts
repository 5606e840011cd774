import { expect, it } from 'vitest'
import { z } from 'zod'
import { fieldsOf } from './describe-schema.ts'

it("describes an object's fields and a list's items", () => {
  const item = z.strictObject({
    id: z.uuid(),
    kind: z.enum(['a', 'b']),
    at: z.iso.datetime().nullable(),
    tags: z.array(z.string()),
    size: z.int().min(1).max(5).default(2),
  })
  const fields = fieldsOf(item, 'input')
  expect(fields.map(({ name, type, required }) => [name, type, required])).toEqual([
    ['id', 'uuid', true],
    ['kind', '"a" | "b"', true],
    ['at', 'time | null', true],
    ['tags', 'string[]', true],
    ['size', 'integer', false],
  ])
  expect(fields.at(-1)?.description).toBe('from 1 to 5, default 2')
  expect(fieldsOf(z.array(item), 'output')).toHaveLength(5)
})
