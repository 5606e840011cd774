import { createTokenHandler } from '@sluice/node'
import { toNodeHandler } from '@sluice/node/node-http'
import vue from '@vitejs/plugin-vue'

/** While you develop, Vite's server is also the backend. */
const giveToken = toNodeHandler(createTokenHandler({ authorize: () => ({ subject: 'user-1' }) }))
const backend = {
  name: 'backend',
  configureServer({ middlewares }) {
    middlewares.use('/api/upload-token', giveToken)
  },
}

const isCustomElement = (tag) => tag === 'sluice-uploader'

export default { plugins: [vue({ template: { compilerOptions: { isCustomElement } } }), backend] }
