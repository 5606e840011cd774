import { expect, it } from 'vitest'
import { longFunctions } from './function-lengths.ts'

it('finds functions of too many lines, however they are written', () => {
  const source = `function short() {
}
class Part {
  #send() {
    return 1
  }
}
const add = () => {
  const inner = function () {}
  return \`
  \`
}`
  expect(longFunctions(source, 3)).toEqual(['8: a function has 5 lines'])
  expect(longFunctions(source, 2)).toEqual(['4: #send has 3 lines', '8: a function has 5 lines'])
  expect(longFunctions(source)).toEqual([])
})
