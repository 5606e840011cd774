import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { expect, it } from 'vitest'
import { startCli } from '../../../../test/support/start-cli.ts'

const named = (...names: string[]) =>
  names.map((name) => ({ id: name, name, headerNames: [], revokedAt: null, groupId: null }))

/** What the program says about a workspace with these lists. */
async function exportFrom(lists: Record<string, object[]>): Promise<string> {
  const server = createServer((req, res) => {
    const { pathname } = new URL(req.url!, 'http://localhost')
    const data = lists[pathname.replace('/api/v1/', '')] ?? []
    res.writeHead(200, { 'Content-Type': 'application/json' })
    res.end(JSON.stringify({ data, nextCursor: null }))
  })
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const env = {
    SLUICE_URL: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    SLUICE_ACCOUNT_KEY: 'ak_x',
  }
  const child = startCli(['export'], env)
  child.stdout.resume()
  const said = await text(child.stderr)
  server.close().closeAllConnections()
  return said
}

it('names what has the same name more than once in a list, since apply would refuse the file', async () => {
  const said = await exportFrom({
    senders: named('Command line', 'website', 'Command line', 'Command line'),
    pipes: named('films', 'stills').map((pipe) => ({ ...pipe, destinations: [] })),
    'pipes/films/outputs': named('audit', 'audit'),
    'pipes/stills/outputs': named('audit'),
    outputs: named('audit', 'website'),
  })
  expect(said).toBe(
    'Several Senders are named "Command line". Rename all but one and export again: sluice apply refuses this file.\n' +
      'Several outputs of the Pipe "films" are named "audit". Rename all but one and export again: sluice apply refuses this file.\n',
  )
})
