import type { NextRequest } from 'next/server'
import { follow, isTopic } from '#lib/dashboard/live.ts'
import { may } from '#lib/identity/rights.ts'
import { createPlaces } from '#lib/platform/places.ts'
import { getRuntime } from '#lib/platform/runtime.ts'
import { currentSession } from '../../session.ts'
import { stopping } from '../../stopping.ts'

const places = createPlaces({ most: 500, mostForEach: 30 })

/** Server-sent events for signed-in users' pages: `?topic=files`. */
export async function GET(request: NextRequest): Promise<Response> {
  const session = await currentSession()
  if (!session) return new Response(null, { status: 401 })
  if (!may(session.actor, 'see')) return new Response(null, { status: 403 })
  const topic = request.nextUrl.searchParams.get('topic') ?? ''
  if (!isTopic(topic)) return new Response(null, { status: 400 })
  // Without a stream, the page polls every few seconds instead.
  const evicted = new AbortController()
  const taken = stopping.aborted ? undefined : places.take(session.userId, () => evicted.abort())
  if (!taken || 'refused' in taken) return new Response(null, { status: 503 })
  const signal = AbortSignal.any([request.signal, stopping, evicted.signal])
  const viewer = { workspaceId: session.workspace.id, sessionId: session.id }
  const snapshots = follow(getRuntime(), viewer, topic, signal)
  let ended = false
  const end = () => {
    if (ended) return false
    ended = true
    taken.leave()
    return true
  }
  const encoder = new TextEncoder()
  const body = new ReadableStream<Uint8Array>({
    start(controller) {
      controller.enqueue(encoder.encode('retry: 2000\n\n'))
    },
    async pull(controller) {
      try {
        const { value, done } = await snapshots.next()
        if (done) return void (end() && controller.close())
        controller.enqueue(encoder.encode(`data: ${JSON.stringify(value)}\n\n`))
      } catch (error) {
        if (!end()) return
        getRuntime().log.warn({ err: error }, 'live stream failed')
        controller.close()
      }
    },
    async cancel() {
      end()
      await snapshots.return(undefined)
    },
  })
  return new Response(body, {
    headers: {
      'Content-Type': 'text/event-stream',
      // `no-transform` keeps the page compression from delaying events.
      'Cache-Control': 'no-cache, no-transform',
      'X-Accel-Buffering': 'no',
    },
  })
}
