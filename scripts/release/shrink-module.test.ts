import { describe, expect, it } from 'vitest'
import { shrinkModule } from './shrink-module.ts'

describe('shrinkModule', () => {
  it('removes comments and indentation, and keeps line breaks and licenses', () => {
    const source = `/*! License: MIT */

      // Explains what follows: …
      export function add(first, second) {
        return first /* the first */ + second

      }
      /* one line
         another */ export const three = add(1, 2) // three`
    expect(shrinkModule(source)).toBe(
      `/*! License: MIT */
export function add(first,second){
return first + second
}
export const three = add(1,2)
`,
    )
  })

  it('leaves regular expressions, templates and text alone', () => {
    const source = [
      'const one = /[/*]  "\\/ \'/.test("//  no comment")',
      `const two = \`a  // \${ { b: \`  /* \${ 1 } */ \` }.b }  c\``,
      'const three = 4 / 2 /* half */ / 1',
      'const four = a => (a) / 2',
    ].join('\n')
    expect(shrinkModule(source)).toBe(
      [
        'const one = /[/*]  "\\/ \'/.test("//  no comment")',
        `const two = \`a  // \${{b: \`  /* \${ 1} */ \`}.b}  c\``,
        'const three = 4 / 2 / 1',
        'const four = a =>(a)/ 2',
        '',
      ].join('\n'),
    )
  })

  it('keeps a line break that ends a statement, even within a comment', () => {
    expect(shrinkModule('return/*\n*/value')).toBe('return\nvalue\n')
  })

  it('keeps tokens apart that would otherwise become another', () => {
    expect(shrinkModule('a + /**/ +b - /**/ - c')).toBe('a + +b - - c\n')
    expect(shrinkModule('typeof/**/a in/**/b')).toBe('typeof a in b\n')
  })

  it('keeps names, from which Node derives the exports of a CommonJS module', () => {
    const source = '(function (exports) { exports.add = add; }(typeof exports === "object" ? exports : {}));'
    expect(shrinkModule(source)).toContain('exports.add = add')
  })
})
