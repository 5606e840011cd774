/** For the cases of a matrix: those that do not decide run only with `npm test -- --all`. */
export const longUnless = (deciding: boolean) => (deciding ? {} : { tags: 'long' })
