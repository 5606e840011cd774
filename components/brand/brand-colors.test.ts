import { expect, it } from 'vitest'
import { contrastOf, textOn, visibleIn } from './brand-colors.ts'

it('keeps a color that stands out in the mode, and changes it otherwise', () => {
  expect(visibleIn('light', '#6d28d9')).toBe('#6d28d9')
  expect(visibleIn('dark', '#ffd400')).toBe('#ffd400')
  expect(visibleIn('light', '#ffd400')).not.toBe('#ffd400')
  expect(visibleIn('dark', '#000000')).not.toBe('#000000')
  expect([textOn('#6d28d9'), textOn('#ffd400')]).toEqual(['#ffffff', '#000000'])
})

it.each(['#000000', '#ffffff', '#ffd400', '#6d28d9', '#777777', '#ff0000', '#00ff00', '#0000ff'])(
  'makes the text on %s legible, and what has its color visible in both modes',
  (color) => {
    expect(contrastOf(color, textOn(color))).toBeGreaterThanOrEqual(4.5)
    expect(contrastOf(visibleIn('light', color), '#ffffff')).toBeGreaterThanOrEqual(3)
    expect(contrastOf(visibleIn('dark', color), '#262c2f')).toBeGreaterThanOrEqual(3)
  },
)
