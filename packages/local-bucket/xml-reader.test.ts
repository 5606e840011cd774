import { describe, expect, it } from 'vitest'
import { childText, readXml } from './xml.ts'

describe('readXml', () => {
  it("reads elements, text and XML's own entities", () => {
    const root = readXml(
      '\ufeff<?xml version="1.0"?>\n<A xmlns="http://a/"><B>1 &lt; 2 &amp;&#32;&#x1F600;</B><C/><B>other</B></A>\n',
    )
    expect(root.children.map(({ name }) => name)).toEqual(['B', 'C', 'B'])
    expect(childText(root, 'B')).toBe('1 < 2 & \u{1F600}')
    expect(childText(root, 'C')).toBe('')
    expect(childText(root, 'D')).toBeUndefined()
  })

  it.each([
    '',
    'text',
    '<A>',
    '</A>',
    '<A></B>',
    '<A><B></A></B>',
    '<A/><B/>',
    '<A/>text',
    '<A>&unknown;</A>',
    '<A>& B</A>',
    '<A>&#1114112;</A>',
    '<A><!-- comment --></A>',
    '<A><![CDATA[text]]></A>',
    '<!DOCTYPE A [<!ENTITY b "c">]><A>&b;</A>',
    '<A '.repeat(1000),
    '<A>'.repeat(100) + '</A>'.repeat(100),
  ])('refuses %j', (text) => {
    expect(() => readXml(text)).toThrow('not well-formed')
  })
})
