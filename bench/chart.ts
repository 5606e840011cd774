import type { Bar } from './cases.ts'

export type Panel = { title: string; bars: Bar[] }

const WIDTH = 720
const LABEL_WIDTH = 110
const FIGURE_WIDTH = 130
const TITLE_HEIGHT = 34
const BAR_HEIGHT = 20
const GAP = 6

/** Each panel has its own scale. The colors follow the reader's color mode. */
export function drawChart(panels: Panel[]): string {
  let y = 0
  const drawn = panels.map(({ title, bars }) => {
    const most = Math.max(...bars.map(({ value }) => value))
    const lines = [`<text class="title" x="0" y="${y + 22}">${inXml(title)}</text>`]
    y += TITLE_HEIGHT
    for (const { name, value, unit } of bars) {
      const width = Math.max(1, ((WIDTH - LABEL_WIDTH - FIGURE_WIDTH) * value) / most)
      const middle = y + BAR_HEIGHT - 5
      lines.push(
        `<text x="${LABEL_WIDTH - 10}" y="${middle}" text-anchor="end">${inXml(name)}</text>`,
        `<rect class="${name === 'Sluice' ? 'ours' : 'other'}" x="${LABEL_WIDTH}" y="${y}" width="${width.toFixed(1)}" height="${BAR_HEIGHT}" rx="3"/>`,
        `<text x="${(LABEL_WIDTH + width + 8).toFixed(1)}" y="${middle}">${figure(value)} ${inXml(unit)}</text>`,
      )
      y += BAR_HEIGHT + GAP
    }
    y += GAP
    return lines.join('\n')
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${y}" width="${WIDTH}" height="${y}" role="img" aria-label="Sluice compared with its peers">
<style>
text { font: 13px system-ui, sans-serif; fill: #57606a }
.title { font-weight: 600; fill: #1f2328 }
.ours { fill: #0f766e }
.other { fill: #afb8c1 }
@media (prefers-color-scheme: dark) {
  text { fill: #9198a1 }
  .title { fill: #f0f6fc }
  .ours { fill: #2dd4bf }
  .other { fill: #4d5560 }
}
</style>
${drawn.join('\n')}
</svg>
`
}

const figure = (value: number): string =>
  value < 10 ? value.toFixed(2).replace(/\.00$/, '') : value.toFixed(0)

const inXml = (text: string) => text.replaceAll('&', '&amp;').replaceAll('<', '&lt;')
