import { expect, it } from 'vitest'
import { stepOf } from './build.ts'

it.each([
  ['  Creating an optimized production build ...', 'Creating an optimized production build ...'],
  ['✓ Compiled successfully in 25.1s', 'Compiled successfully in 25.1s'],
  ['├ ƒ /docs/[...slug]', undefined],
])('finds the step in “%s”', (line, step) => expect(stepOf(line)).toBe(step))
