import type { LinkPage, Words } from '../words.ts'

export const words: Words = {
  lang: 'de',
  choose: 'Dateien auswählen',
  drop: 'Dateien oder Ordner hierher ziehen oder',
  list: 'Uploads',
  pause: '{name} anhalten',
  resume: '{name} fortsetzen',
  retry: '{name} erneut versuchen',
  cancel: '{name} abbrechen',
  remove: '{name} aus der Liste entfernen',
  progress: 'Fortschritt von {name}',
  queued: 'In der Warteschlange',
  uploading: '{percent}',
  waiting: '{reason}. Ein neuer Versuch folgt automatisch.',
  paused: 'Angehalten bei {percent}',
  failed: 'Fehlgeschlagen: {reason}',
  unreadable: 'Der Browser konnte dieses Element nicht lesen.',
  tooMany: 'Nur die ersten {count} Dateien wurden hinzugefügt. Ziehen Sie die übrigen getrennt hierher.',
  done: 'Hochgeladen',
  missing: 'Wählen Sie dieselbe Datei noch einmal aus, um den Upload fortzusetzen.',
  said: '{name}: {state}',
  saidMore: { one: 'Und {count} weitere.', other: 'Und {count} weitere.' },
  reasons: {
    network: 'Warten auf die Verbindung',
    status: 'Der Server hat mit {status} geantwortet',
    no_token: 'Kein Upload-Token: {status}',
    file_changed:
      'Die Datei wurde nach dem Auswählen geändert oder verschoben. Wählen Sie sie noch einmal aus.',
    type_not_allowed: 'Dateien dieses Typs werden hier nicht angenommen.',
    type_mismatch: 'Der Inhalt dieser Datei passt nicht zu ihrem Typ.',
    file_too_large: 'Die Datei ist zu groß.',
    quota_exceeded: 'Der Empfänger kann im Moment nicht so viele Daten annehmen.',
    token_exhausted: 'Hier werden keine weiteren Dateien angenommen.',
    checksum_mismatch: 'Die Datei wurde bei der Übertragung beschädigt.',
    not_accepting: 'Hier können im Moment keine Dateien hochgeladen werden.',
  },
}

export const linkPage: LinkPage = {
  skip: 'Zum Inhalt springen',
  theme: { system: 'Farbschema: System', light: 'Farbschema: hell', dark: 'Farbschema: dunkel' },
  privacy:
    'Ihre Dateien gehen direkt an die Person, die diesen Link erstellt hat. Unter dieser Adresse kann niemand die Dateien lesen.',
  name: 'Upload-Link',
  noScript: 'Um von dieser Seite aus Dateien zu senden, müssen Sie JavaScript erlauben.',
  unknown: {
    name: 'Link nicht gefunden',
    title: 'Dieser Link funktioniert nicht',
    text: 'Vielleicht ist er unvollständig, falsch abgetippt oder wurde gelöscht. Kopieren Sie ihn noch einmal aus der Nachricht, die Sie erhalten haben, oder bitten Sie die Person, von der sie stammt, um einen neuen.',
  },
  limited: {
    title: 'Zu viele Versuche',
    text: 'Aus Ihrem Netzwerk wurden zu viele ungültige Links geöffnet. Warten Sie eine Minute und laden Sie die Seite dann neu.',
  },
  failed: {
    title: 'Diese Seite kann gerade nicht angezeigt werden',
    text: 'Versuchen Sie es gleich noch einmal. Unterbrochene Uploads werden dort fortgesetzt, wo sie aufgehört haben.',
    again: 'Noch einmal versuchen',
  },
  closed: {
    title: 'Dieser Link ist geschlossen',
    text: 'Bitten Sie die Person, von der Sie ihn haben, ihn wieder zu öffnen oder einen neuen zu senden.',
  },
  expired: {
    title: 'Dieser Link ist abgelaufen',
    text: 'Bitten Sie die Person, von der Sie ihn haben, um einen neuen.',
  },
  exhausted: {
    title: 'Dieser Link nimmt keine weiteren Dateien an',
    text: 'Er hat seine Grenze erreicht. Bitten Sie die Person, von der Sie ihn haben, die Grenze zu erhöhen oder einen anderen Link zu senden.',
  },
  continues: 'Laufende Uploads werden fortgesetzt.',
  only: 'Nur {types}',
  types: {
    images: 'Bilder',
    videos: 'Videos',
    audio: 'Audiodateien',
    texts: 'Textdateien',
    format: '{format}-Dateien',
  },
  filesLeft: { one: 'Noch {count} Datei', other: 'Noch {count} Dateien' },
  spaceLeft: 'Noch {size}',
  openUntil: 'Offen bis {time}',
  chooseAgain: 'Dieselben Dateien noch einmal auswählen',
  keepOpen:
    'Lassen Sie diese Seite geöffnet, bis alles angekommen ist. Wenn sie geschlossen wird oder die Verbindung abbricht, öffnen Sie den Link noch einmal in diesem Browser: Der Upload wird dort fortgesetzt, wo er unterbrochen wurde.',
  arrived: { one: 'Ihre Datei ist angekommen', other: 'Alle {count} Dateien sind angekommen' },
  mayClose: 'Sie können diese Seite schließen.',
  receipt: {
    label: 'Ihre E-Mail-Adresse',
    ask: 'Für eine Empfangsbestätigung mit der Liste Ihrer Dateien. Die Adresse wird nur dafür verwendet.',
    send: 'Bestätigung senden',
    invalid: 'Geben Sie Ihre E-Mail-Adresse ein.',
    sent: 'Die Empfangsbestätigung ist unterwegs an {email}.',
    subject: 'Empfangsbestätigung: {title}',
    arrived: {
      one: '{count} Datei ({size}) ist über den Upload-Link „{title}“ angekommen:',
      other: '{count} Dateien ({size}) sind über den Upload-Link „{title}“ angekommen:',
    },
    notYou:
      'Diese Adresse wurde auf der Seite des Links eingegeben. Wenn Sie das nicht waren, ignorieren Sie diese E-Mail.',
  },
  password: {
    label: 'Passwort',
    ask: 'Fragen Sie die Person, die Ihnen diesen Link gesendet hat.',
    again:
      'Laufende Uploads werden ohne das Passwort fortgesetzt. Geben Sie es noch einmal ein, um weitere Dateien zu senden.',
    enter: 'Weiter',
    missing: 'Geben Sie das Passwort für diesen Link ein.',
    wrong: 'Falsches Passwort. Fragen Sie die Person, die Ihnen den Link gesendet hat.',
    limited: 'Zu viele Versuche. Warten Sie eine Minute und versuchen Sie es dann noch einmal.',
    noResponse:
      'Der Server hat nicht geantwortet. Prüfen Sie Ihre Verbindung und versuchen Sie es noch einmal.',
  },
}
