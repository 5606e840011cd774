import { answer } from '../answer.ts'

/**
 * The token API. The front door handles POST requests to exactly this address itself, with the same function (decision
 * 40).
 */
export const dynamic = 'force-dynamic'

/** Includes methods that no operation uses, so that they get the API's own 405. */
export {
  answer as DELETE,
  answer as GET,
  answer as HEAD,
  answer as OPTIONS,
  answer as PATCH,
  answer as POST,
  answer as PUT,
}
