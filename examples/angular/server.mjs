import { createTokenHandler } from '@sluice/node'
import { toNodeHandler } from '@sluice/node/node-http'
import express from 'express'

const app = express()
app.post('/api/upload-token', toNodeHandler(createTokenHandler({ authorize: () => ({ subject: 'user-1' }) })))
app.use(express.static('dist/app/browser'))

const server = app.listen(process.env.PORT ?? 3001, 'localhost', () =>
  console.log(`http://localhost:${server.address().port}`),
)
