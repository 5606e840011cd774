import { readFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import { createTokenHandler } from '@sluice/node'
import { toNodeHandler } from '@sluice/node/node-http'

const giveToken = toNodeHandler(createTokenHandler({ authorize: () => ({ subject: 'user-1' }) }))
const files = new Map([
  ['/', ['text/html', new URL('index.html', import.meta.url)]],
  ['/uploader.js', ['text/javascript', new URL(import.meta.resolve('@sluice/uploader'))]],
])

const server = createServer(async (req, res) => {
  if (req.url === '/api/upload-token') return giveToken(req, res)
  const [type, file] = files.get(req.url) ?? []
  if (file) res.writeHead(200, { 'Content-Type': type }).end(await readFile(file))
  else res.writeHead(404).end()
})
server.listen(process.env.PORT ?? 3001, 'localhost', () =>
  console.log(`http://localhost:${server.address().port}`),
)
