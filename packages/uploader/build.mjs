import { bundleLanguages, bundleWhole } from '../bundle.mjs'

await bundleWhole('src/index.ts')
await bundleLanguages()
