import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { isSluiceError } from './errors.ts'
import { parseInput } from './parse-input.ts'

const schema = z.strictObject({
  name: z.string().min(1, 'must not be empty'),
  size: z.number().optional(),
  role: z.enum(['viewer', 'admin']).optional(),
  kind: z.literal('one').optional(),
})

function fault(value: unknown) {
  try {
    parseInput(schema, value)
  } catch (error) {
    if (isSluiceError(error)) return error
  }
  throw new Error('nothing was thrown')
}

describe('parseInput', () => {
  it.each([
    [{ name: 'a\0' }, 'name'],
    [{ name: '\ud800' }, 'name'],
    [{ name: 'a', 'a\0': 1 }, 'body'],
    ['\0', 'body'],
    [{ list: [{ text: 'b\udc00' }] }, 'list.0.text'],
  ])('rejects a string that the database does not accept: %j', (value, field) => {
    expect(fault(value)).toMatchObject({ code: 'invalid_request', fields: [{ field }] })
  })

  it('checks values nested as deeply as a body allows', () => {
    const deep = JSON.parse(`${'['.repeat(30_000)}${']'.repeat(30_000)}`)
    expect(fault(deep)).toMatchObject({ code: 'invalid_request' })
  })

  it('accepts valid input', () => {
    expect(parseInput(schema, { name: 'a' })).toEqual({ name: 'a' })
  })

  it.each([
    [{}, 'name', 'is required'],
    [{ name: 7 }, 'name', 'must be a string'],
    [{ name: '' }, 'name', 'must not be empty'],
    [{ name: 'a', colour: 'red' }, 'colour', 'is not a known field'],
    [[], 'body', 'must be an object'],
    [{ name: 'a', role: 'builder' }, 'role', 'must be one of "viewer", "admin"'],
    [{ name: 'a', kind: 'two' }, 'kind', 'must be "one"'],
  ])('says what is wrong with %j', (value, field, message) => {
    const error = fault(value)
    expect(error).toMatchObject({ code: 'invalid_request', fields: [{ field, message }] })
    expect(error.message).toContain(field)
  })
})
