import { z } from 'zod'

export const wholeNumber = (min: number, max: number) =>
  z
    .string()
    .regex(/^\d+$/, 'must be a whole number')
    .transform(Number)
    .pipe(z.number().refine((value) => value >= min && value <= max, `must be from ${min} to ${max}`))

export const flag = z.enum(['0', '1'], { message: 'must be 0 or 1' }).transform((text) => text === '1')

export const url = (protocols: string[], what: string) =>
  z.string().refine((text) => URL.canParse(text) && protocols.includes(new URL(text).protocol), {
    message: `must be ${what}`,
  })
export const text = z.string().min(1)
