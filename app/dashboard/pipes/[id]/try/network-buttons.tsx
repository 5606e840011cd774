'use client'

import { KeyRound, Plug, RotateCw, Unplug, Wifi } from 'lucide-react'
import { useState } from 'react'
import { Button } from '#components/ui/button.tsx'
import { notify } from '#components/ui/toaster.tsx'
import type { Uploader } from '#components/uploader/create-uploader.ts'
import { endTrialToken } from './actions.ts'

/** What acts on an upload is disabled unless one is under way. */
export function NetworkButtons({ uploader, idle }: { uploader: Uploader; idle: boolean }) {
  const [down, setDown] = useState(false)
  const [slow, setSlow] = useState(true)

  async function endToken(how: 'expire' | 'revoke') {
    const id = uploader.tokenId()
    if (!id) return
    const answer = await endTrialToken(id, how)
    if (answer.status === 'error') return notify.failed(answer.message)
    uploader.say(how === 'expire' ? 'the token expired' : 'the token was revoked', 'bad')
  }

  return (
    <div className="space-y-3">
      <div className="grid grid-cols-2 gap-2">
        <Button disabled={idle} onClick={() => uploader.cut()} icon={Unplug}>
          Cut connection
        </Button>
        <Button
          aria-pressed={down}
          icon={down ? Plug : Wifi}
          onClick={() => {
            setDown(!down)
            uploader.setDown(!down)
          }}
        >
          {down ? 'Go online' : 'Go offline'}
        </Button>
        {(['expire', 'revoke'] as const).map((how) => (
          <Button key={how} disabled={idle} onClick={() => endToken(how)} icon={KeyRound}>
            {how === 'expire' ? 'Expire' : 'Revoke'} token
          </Button>
        ))}
        <Button className="col-span-2" onClick={() => window.location.reload()} icon={RotateCw}>
          Reload the page
        </Button>
      </div>
      <label className="flex items-center gap-2 text-sm">
        <input
          type="checkbox"
          checked={slow}
          onChange={(event) => {
            setSlow(event.target.checked)
            uploader.setSlow(event.target.checked)
          }}
          className="size-4 accent-(--water)"
        />
        Slow connection, so that you have time to interrupt
      </label>
    </div>
  )
}
