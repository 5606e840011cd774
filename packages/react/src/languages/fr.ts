import type { LinkPage, Words } from '../words.ts'

export const words: Words = {
  lang: 'fr',
  choose: 'Choisir des fichiers',
  drop: 'Déposez des fichiers ou des dossiers ici, ou',
  list: 'Envois',
  pause: 'Mettre {name} en pause',
  resume: 'Reprendre {name}',
  retry: 'Réessayer {name}',
  cancel: 'Annuler {name}',
  remove: 'Retirer {name} de la liste',
  progress: 'Progression de {name}',
  queued: 'En attente',
  uploading: '{percent}',
  waiting: '{reason}. Nouvelle tentative automatique.',
  paused: 'En pause à {percent}',
  failed: 'Échec\u00a0: {reason}',
  unreadable: 'Le navigateur n’a pas pu lire cet élément.',
  tooMany: 'Seuls les {count} premiers fichiers déposés ont été ajoutés. Déposez les autres séparément.',
  done: 'Envoyé',
  missing: 'Choisissez de nouveau le même fichier pour reprendre l’envoi.',
  said: '{name}\u00a0: {state}',
  saidMore: { one: 'Et {count} autre.', many: 'Et {count} autres.', other: 'Et {count} autres.' },
  reasons: {
    network: 'En attente du réseau',
    status: 'Le serveur a répondu {status}',
    no_token: 'Aucun jeton d’envoi\u00a0: {status}',
    file_changed:
      'Le fichier a été modifié ou déplacé depuis que vous l’avez choisi. Choisissez-le de nouveau.',
    type_not_allowed: 'Les fichiers de ce type ne sont pas acceptés ici.',
    type_mismatch: 'Le contenu de ce fichier ne correspond pas à son type.',
    file_too_large: 'Le fichier est trop volumineux.',
    quota_exceeded: 'Le destinataire ne peut pas accepter autant de données pour le moment.',
    token_exhausted: 'Aucun autre fichier n’est accepté ici.',
    checksum_mismatch: 'Le fichier a été endommagé pendant l’envoi.',
    not_accepting: 'Aucun fichier ne peut être envoyé ici pour le moment.',
  },
}

export const linkPage: LinkPage = {
  skip: 'Aller au contenu',
  theme: { system: 'Thème\u00a0: système', light: 'Thème\u00a0: clair', dark: 'Thème\u00a0: sombre' },
  privacy:
    'Vos fichiers sont transmis directement à la personne qui a créé ce lien. Personne ne peut les lire à cette adresse.',
  name: 'Lien d’envoi',
  noScript: 'Pour envoyer des fichiers depuis cette page, autorisez JavaScript.',
  unknown: {
    name: 'Lien introuvable',
    title: 'Ce lien ne fonctionne pas',
    text: 'Il est peut-être incomplet, mal saisi ou supprimé. Copiez-le de nouveau depuis le message que vous avez reçu, ou demandez-en un nouveau à la personne qui vous l’a envoyé.',
  },
  limited: {
    title: 'Trop de tentatives',
    text: 'Trop de liens non valides ont été ouverts depuis votre réseau. Attendez une minute, puis rechargez cette page.',
  },
  failed: {
    title: 'Impossible d’afficher cette page',
    text: 'Réessayez dans un instant. Les envois interrompus reprennent là où ils se sont arrêtés.',
    again: 'Réessayer',
  },
  closed: {
    title: 'Ce lien est fermé',
    text: 'Demandez à la personne qui vous l’a envoyé de le rouvrir ou de vous en envoyer un nouveau.',
  },
  expired: {
    title: 'Ce lien a expiré',
    text: 'Demandez-en un nouveau à la personne qui vous l’a envoyé.',
  },
  exhausted: {
    title: 'Ce lien n’accepte plus de fichiers',
    text: 'Il a atteint sa limite. Demandez à la personne qui vous l’a envoyé d’augmenter la limite ou de vous envoyer un autre lien.',
  },
  continues: 'Les envois en cours se poursuivent.',
  only: 'Uniquement\u00a0: {types}',
  types: {
    images: 'images',
    videos: 'vidéos',
    audio: 'fichiers audio',
    texts: 'fichiers texte',
    format: 'fichiers {format}',
  },
  filesLeft: {
    one: 'Encore {count} fichier',
    many: 'Encore {count} de fichiers',
    other: 'Encore {count} fichiers',
  },
  spaceLeft: 'Encore {size}',
  openUntil: 'Ouvert jusqu’au {time}',
  chooseAgain: 'Choisir de nouveau les mêmes fichiers',
  keepOpen:
    'Gardez cette page ouverte jusqu’à ce que tout soit arrivé. Si elle est fermée ou si la connexion est interrompue, rouvrez le lien dans ce navigateur\u00a0: l’envoi reprendra là où il s’est arrêté.',
  arrived: {
    one: 'Votre fichier est arrivé',
    many: 'Tous les {count} de fichiers sont arrivés',
    other: 'Les {count} fichiers sont arrivés',
  },
  mayClose: 'Vous pouvez fermer cette page.',
  receipt: {
    label: 'Votre adresse e-mail',
    ask: 'Pour un accusé de réception avec la liste de vos fichiers. L’adresse ne sert à rien d’autre.',
    send: 'M’envoyer un accusé de réception',
    invalid: 'Saisissez votre adresse e-mail.',
    sent: 'L’accusé de réception est en route vers {email}.',
    subject: 'Accusé de réception\u00a0: {title}',
    arrived: {
      one: '{count} fichier ({size}) est arrivé par le lien d’envoi «\u00a0{title}\u00a0»\u00a0:',
      many: '{count} de fichiers ({size}) sont arrivés par le lien d’envoi «\u00a0{title}\u00a0»\u00a0:',
      other: '{count} fichiers ({size}) sont arrivés par le lien d’envoi «\u00a0{title}\u00a0»\u00a0:',
    },
    notYou: 'Cette adresse a été saisie sur la page du lien. Si ce n’était pas vous, ignorez cet e-mail.',
  },
  password: {
    label: 'Mot de passe',
    ask: 'Demandez-le à la personne qui vous a envoyé ce lien.',
    again:
      'Les envois en cours se poursuivent sans le mot de passe. Saisissez-le de nouveau pour envoyer d’autres fichiers.',
    enter: 'Continuer',
    missing: 'Saisissez le mot de passe de ce lien.',
    wrong: 'Mot de passe incorrect. Demandez-le à la personne qui vous a envoyé le lien.',
    limited: 'Trop de tentatives. Attendez une minute, puis réessayez.',
    noResponse: 'Le serveur n’a pas répondu. Vérifiez votre connexion et réessayez.',
  },
}
