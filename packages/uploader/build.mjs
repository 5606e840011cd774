import { bundleWhole } from '../bundle.mjs'

await bundleWhole('src/index.ts')
