import { createTokenHandler } from '@sluice/node'
export const POST = createTokenHandler({ authorize: () => ({ subject: 'user-1' }) })
