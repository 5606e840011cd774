import type { Actor } from '#lib/identity/audit/record-audit.ts'
import { assertMay, type Right } from '#lib/identity/rights.ts'
import { toProblem } from '#lib/platform/http/problem.ts'
import { getRuntime, type Runtime } from '#lib/platform/runtime.ts'
import { currentSession } from '../session.ts'

/** Serves a download to the signed-in user. Invalid filters are reported before the first byte is sent. */
export async function exportOrProblem(
  right: Right,
  give: (runtime: Runtime, actor: Actor) => Response | Promise<Response>,
): Promise<Response> {
  const runtime = getRuntime()
  const session = await currentSession()
  if (!session) return Response.redirect(new URL('/login', runtime.config.baseUrl))
  try {
    assertMay(session.actor, right)
    return await give(runtime, session.actor)
  } catch (error) {
    const { status, headers, body } = toProblem(error, runtime.config.baseUrl)
    return new Response(body, { status, headers })
  }
}
