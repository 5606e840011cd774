import { answer } from '../answer.ts'

/** The token API. The front door answers POST of the plain address itself, by the same function: decision 40. */
export const dynamic = 'force-dynamic'

/** Methods that no operation has too: they get the API's own 405. */
export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
}
