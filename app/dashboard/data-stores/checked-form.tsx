'use client'

import { useEffect, useRef, useState } from 'react'
import { ActionForm } from '#components/ui/action-form.tsx'
import { Button } from '#components/ui/button.tsx'
import type { FormAction } from '#components/ui/form-state.ts'
import { Notice } from '#components/ui/notice.tsx'
import type { BucketCheck } from '#drizzle/schema/index.ts'
import { CheckFindings } from './check-findings.tsx'
import { type DataStoreFacts, DataStoreFields } from './data-store-fields.tsx'

type Outcome = { refused?: BucketCheck }
type Props = DataStoreFacts & { action: FormAction<Outcome> }

/**
 * Checks the input before saving it. The result scrolls into view: below the form if nothing was saved, otherwise above
 * it.
 */
export function CheckedForm({ action, ...facts }: Props) {
  const kept = facts.store !== undefined
  const [refused, setRefused] = useState<BucketCheck>()
  const result = useRef<HTMLDivElement>(null)
  useEffect(() => {
    if (refused) result.current?.focus()
  }, [refused])

  function show(outcome: Outcome) {
    setRefused(outcome.refused)
    if (!outcome.refused) document.getElementById('check')?.scrollIntoView({ block: 'center' })
  }

  const anyway = (
    <Button type="submit" name="anyway" value="on">
      Save anyway
    </Button>
  )
  return (
    <>
      <ActionForm<Outcome>
        right="administer"
        action={action}
        submit="Check and save"
        className="flex flex-col gap-5"
        onDone={show}
        outcome={(data) =>
          data.refused && (
            <>
              <Refused check={data.refused} kept={kept} />
              {anyway}
            </>
          )
        }
        aside={refused && anyway}
      >
        <DataStoreFields {...facts} />
      </ActionForm>
      {refused && (
        <div ref={result} tabIndex={-1} role="alert" className="mt-5 scroll-my-6 space-y-4 outline-none">
          <Refused check={refused} kept={kept} />
        </div>
      )}
    </>
  )
}

function Refused({ check, kept }: { check: BucketCheck; kept: boolean }) {
  return (
    <>
      <Notice tone="bad" title="Not saved: uploads could not go to this bucket.">
        {kept && 'The previous settings are still in use. '}
        Fix the refused operations listed below, then check again.
      </Notice>
      <CheckFindings check={check} />
    </>
  )
}
