import { serve } from '@hono/node-server'
import { serveStatic } from '@hono/node-server/serve-static'
import { createTokenHandler } from '@sluice/node'
import { Hono } from 'hono'

const giveToken = createTokenHandler({ authorize: () => ({ subject: 'user-1' }) })
const app = new Hono()
app.post('/api/upload-token', (c) => giveToken(c.req.raw))
app.use(serveStatic({ root: './dist' }))

const { PORT = '3001' } = process.env
serve({ fetch: app.fetch, port: Number(PORT), hostname: 'localhost' }, ({ port }) =>
  console.log(`http://localhost:${port}`),
)
