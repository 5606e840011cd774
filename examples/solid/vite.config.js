import { createTokenHandler } from '@sluice/node'
import { toNodeHandler } from '@sluice/node/node-http'
import solid from 'vite-plugin-solid'

/** While you develop, Vite's server is also the backend. */
const giveToken = toNodeHandler(createTokenHandler({ authorize: () => ({ subject: 'user-1' }) }))
const backend = {
  name: 'backend',
  configureServer({ middlewares }) {
    middlewares.use('/api/upload-token', giveToken)
  },
}

export default { plugins: [solid(), backend] }
