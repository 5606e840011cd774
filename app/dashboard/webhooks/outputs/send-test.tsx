'use client'

import { Send } from 'lucide-react'
import Link from 'next/link'
import { useRouter } from 'next/navigation'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Notice } from '#components/ui/notice.tsx'
import { sendTest } from './actions.ts'

const placeOf = ({ deliveryId }: { deliveryId: string }) => `/dashboard/webhooks?delivery=${deliveryId}`

/** Opens the log at the test event, to show the response when it arrives. */
export function SendTest({ outputId, name }: { outputId: string; name?: string }) {
  const router = useRouter()
  return (
    <ActionForm<{ deliveryId: string }>
      right="operate"
      action={sendTest.bind(null, outputId)}
      submit={
        <>
          Send a test
          {name && <span className="sr-only"> to {name}</span>}
        </>
      }
      submitTone="plain"
      icon={<Send aria-hidden />}
      onDone={(data) => router.push(placeOf(data))}
      outcome={(data) => (
        <Notice tone="good">
          The test event is on its way: <Link href={placeOf(data)}>view the response</Link>.
        </Notice>
      )}
    />
  )
}
