import { expect, it } from 'vitest'
import type { Run } from './runs.ts'
import { shrink } from './shrink.ts'

it('leaves out every choice that a failure does not need, and simplifies the others', async () => {
  const run = (choices: readonly number[]) => ({ choices, steps: choices.length }) as unknown as Run
  // Fails after a 7, anything, and later a 5.
  const again = async (choices: readonly number[]) => {
    const seven = choices.indexOf(7)
    return seven >= 0 && choices.indexOf(5, seven + 2) > 0 ? run(choices) : undefined
  }
  const choices = Array.from({ length: 200 }, (_, n) => (n === 31 ? 7 : n === 150 ? 5 : 1 + (n % 4)))
  expect((await shrink(run(choices), again)).choices).toEqual([7, 0, 5])
})
