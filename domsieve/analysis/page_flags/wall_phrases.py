"""Phrases on walls and error pages in the most common languages, compared as whole folded words."""

from functools import cache

from domsieve.analysis.columns.words import fold

ROBOT = """
verify you are human|verify that you are human|verifying you are human|verify you are not a robot
i m not a robot
confirm you are human|prove you are human|are you a robot|are you human|you are not a bot|you re not a robot
please complete the security check|complete the captcha|solve the captcha|enter the characters you see below
unusual traffic from your computer network|unusual activity from your computer network|automated access to
checking your browser before accessing|checking if the site connection is secure|checking your browser
enable javascript and cookies to continue|needs to review the security of your connection|ddos protection by
attention required cloudflare|performing security verification|request unsuccessful incapsula incident id
pardon our interruption|you have been blocked|sorry you have been blocked|access to this page has been denied
access denied you don t have permission to access|to discuss automated access to|bot detection
press hold to confirm
bestätigen sie dass sie ein mensch sind|bestätige dass du ein mensch bist|ich bin kein roboter|kein roboter sind
ungewöhnlicher datenverkehr|ungewöhnlichen datenverkehr|sicherheitsüberprüfung durchführen
vérifiez que vous êtes humain|vérifier que vous êtes humain|je ne suis pas un robot|trafic inhabituel
vous n êtes pas un robot|verifica que eres humano|verifique que es humano|no soy un robot|tráfico inusual
no eres un robot|verifica di essere umano|non sono un robot|traffico insolito|verifique que é humano
não sou um robô|não sou um robo|tráfego incomum|ik ben geen robot|bevestig dat je een mens bent
nie jestem robotem|potwierdź że jesteś człowiekiem|я не робот|подтвердите что вы не робот|вы не робот
подозрительный трафик|я не робот|я не робот|ben robot değilim|robot olmadığınızı|jag är inte en robot
jeg er ikke en robot|en ole robotti|nejsem robot|nem vagyok robot|nu sunt robot
私はロボットではありません|ロボットではない|人間であることを確認|我不是机器人|我不是機器人|请完成安全验证
請完成安全驗證
确认您是真人|確認您是真人|人机验证|로봇이 아닙니다|사람인지 확인
"""

# On the buttons of consent walls. They are common elsewhere, so CONSENT_TOPIC must match the text as well.
CONSENT = """
accept all|accept cookies|accept all cookies|agree and continue|i agree|i accept|reject all|manage preferences
manage choices|manage options|agree and close|consent|do not consent|accept and continue|accept|agree|allow all
alle akzeptieren|akzeptieren|zustimmen|zustimmen und weiter|alle ablehnen|ablehnen|einwilligen|einverstanden
tout accepter|accepter|j accepte|tout refuser|accepter et continuer|continuer sans accepter|accepter et fermer
aceptar|aceptar todo|aceptar y continuar|rechazar todo|accetta|accetta tutto|accetta e continua|rifiuta tutto
aceitar|aceitar tudo|aceitar todos|rejeitar tudo|alles accepteren|akkoord|accepteren|alles afwijzen
alles weigeren
akceptuję|zgadzam się|zaakceptuj wszystko|przejdź do serwisu|odrzuć wszystko|принять|принять все|согласен
godkänn alla|acceptera|acceptér alle|godta alle|hyväksy kaikki|přijmout vše|souhlasím|elfogadom|kabul et
同意する|すべて許可|接受|全部接受|同意|동의
"""
CONSENT_TOPIC = """
cookie|cookies|consent|gdpr|our partners|personal data|privacy|advertising|ads measurement|ad measurement
personalised ads|personalized ads|process data|store and or access information|your choices|vendors
legitimate interest
before you continue|einwilligung|datenschutz|datenschutzerklärung|werbung|personenbezogene daten|partner
partnern
zustimmung|verarbeitung|données personnelles|confidentialité|publicité|partenaires|consentement|traceurs
privacidad|datos personales|socios|consentimiento|publicidad|dati personali|consenso|pubblicità|riservatezza
privacidade|dados pessoais|consentimento|persoonsgegevens|toestemming|advertenties|dane osobowe|danych osobowych
zgoda|zgody|zgodę|prywatności|конфиденциальности|персональных данных|samtycke|samtykke|personuppgifter|suostumus
soukromí|osobních údajů|adatvédelmi|kişisel veri|クッキー|プライバシー|隐私|隱私|쿠키|개인정보
"""

LOGIN = """
log in to continue|login to continue|sign in to continue|please log in|please login|please sign in
you must be logged in
you must log in|you need to log in|you need to be logged in|you must sign in|you need to sign in|login required
log in or sign up to view|log in to view|sign in to view|log into your account|sign in to your account
you are not logged in|members only|join now to see|sign up to see|bitte melden sie sich an|bitte einloggen
sie müssen angemeldet sein|sie müssen sich anmelden|anmeldung erforderlich|melde dich an um|bitte logge dich ein
veuillez vous connecter|vous devez être connecté|connectez vous pour|connexion requise|inicia sesión para
debes iniciar sesión|inicie sesión para|por favor inicia sesión|accedi per continuare|effettua il login
devi accedere
effettuare l accesso|faça login para|você precisa estar logado|entre para continuar|inicie sessão para
log in om verder te gaan|je moet ingelogd zijn|u moet ingelogd zijn|zaloguj się aby|musisz się zalogować
musisz być zalogowany|войдите чтобы|необходимо войти|необходимо авторизоваться|logga in för att
du måste logga in
log ind for at|logg inn for å|kirjaudu sisään|přihlaste se|jelentkezzen be|giriş yapmalısınız|giriş yapmanız
ログインしてください|ログインが必要|请登录|请先登录|請登入|請先登入|로그인이 필요|로그인하세요
"""

PAY = """
subscribe to continue|subscribe to continue reading|subscribe to keep reading|subscribe to read
subscribe now to read
to continue reading subscribe|to continue reading this article|to read the full article|to read the full story
already a subscriber|this article is for subscribers|article is for subscribers only|for subscribers only
exclusive to subscribers|subscriber only content|subscribers only|you have reached your limit of free articles
you ve reached your limit of free articles|reached your article limit|your last free article|unlock this article
this content is for members|this post is for paid subscribers|this post is for paying subscribers
become a member to read
get unlimited access|register to continue reading|keep reading with a subscription|sign up to continue reading
jetzt abonnieren und weiterlesen|mit abo weiterlesen|weiterlesen mit|sie haben bereits ein abo|bereits abonnent
nur für abonnenten|exklusiv für abonnenten|artikel ist nur für abonnenten|jetzt weiterlesen|artikel freischalten
réservé aux abonnés|réservé à nos abonnés|article réservé|déjà abonné|abonnez vous pour lire|il vous reste
pour lire la suite|sólo para suscriptores|solo para suscriptores|contenido exclusivo para suscriptores
suscríbete para seguir leyendo|suscríbete para leer|ya eres suscriptor|riservato agli abbonati
contenuto riservato
abbonati per continuare|sei già abbonato|exclusivo para assinantes|conteúdo exclusivo para assinantes
já é assinante
assine para continuar|alleen voor abonnees|exclusief voor abonnees|al abonnee|word abonnee om
tylko dla subskrybentów
tylko dla prenumeratorów|dostęp dla prenumeratorów|только для подписчиков|доступно по подписке
оформите подписку чтобы
endast för prenumeranter|bara för prenumeranter|läs vidare med|for abonnenter|kun for abonnenter|vain tilaajille
jen pro předplatitele|csak előfizetőknek|abonelere özel
会員限定|この記事は有料会員限定|有料会員|登录后阅读全文|订阅后阅读|구독자 전용
"""

# Compared with a whole heading, or with a whole part of the title.
NOT_FOUND = """
404|error 404|404 error|http 404|404 not found|not found|page not found|404 page not found|page not found 404
no such page|not found 404
error 404 not found|404 error page not found|this page could not be found|page cannot be found
page can t be found|the page cannot be found|the page can t be found|that page can t be found
page does not exist
this page does not exist|this page doesn t exist|page doesn t exist|page no longer exists|page unavailable
this page isn t available|sorry this page isn t available|page not available|content not found
content unavailable
this content isn t available|nothing found|no page found|oops page not found|oops that page can t be found
sorry page not found|file not found|404 file not found|article not found|post not found|product not found
job not found
we can t find that page|we couldn t find that page|we can t find the page|we couldn t find the page
we can t find the page you re looking for|we can t find the page you are looking for
the page you requested could not be found|the page you are looking for doesn t exist|page is missing|410 gone
gone
the requested page could not be found|the page you were looking for doesn t exist|page has moved
this page is missing
seite nicht gefunden|404 seite nicht gefunden|fehler 404|404 fehler|nicht gefunden|seite existiert nicht
die seite wurde nicht gefunden|diese seite existiert nicht|inhalt nicht gefunden|seite nicht verfügbar
page non trouvée|page introuvable|erreur 404|404 page introuvable|cette page n existe pas|page inexistante
página no encontrada|no encontrado|404 página no encontrada|la página no existe|esta página no existe
pagina non trovata|404 pagina non trovata|errore 404|la pagina non esiste|pagina inesistente
página não encontrada
404 página não encontrada|esta página não existe|erro 404|pagina niet gevonden|404 pagina niet gevonden
deze pagina bestaat niet|nie znaleziono strony|strona nie istnieje|strona nie została znaleziona|błąd 404
страница не найдена|404 страница не найдена|ошибка 404|такой страницы нет|sidan hittades inte
sidan kunde inte hittas
siden blev ikke fundet|siden findes ikke|siden ble ikke funnet|sivua ei löytynyt|sivua ei löydy
stránka nenalezena
stránka nebyla nalezena|az oldal nem található|sayfa bulunamadı|pagina nu a fost găsită|sidan finns inte
ページが見つかりません|お探しのページは見つかりませんでした|页面不存在|页面未找到|找不到页面|找不到頁面
頁面不存在|페이지를 찾을 수 없습니다
"""


@cache
def folded(phrases: str) -> tuple[str, ...]:
    """Return the distinct phrases of one of the lists above, folded."""
    parts = (" ".join(fold(phrase).split()) for line in phrases.split("\n") for phrase in line.split("|"))
    return tuple(dict.fromkeys(phrase for phrase in parts if phrase))
