"""Names of months in the languages of the web's most pages, without case. Imports nothing."""

_NAMES = (
    "january jan januar jänner janvier janv enero ene gennaio gen janeiro januari tammikuuta stycznia "
    "ledna января січня ocak január ianuarie",
    "february feb februar feber février févr fevrier febrero febbraio fevereiro fev februari helmikuuta "
    "lutego února февраля лютого şubat február februarie",
    "march mar märz mär mars marzo março maart mrt marts maaliskuuta marca března марта березня mart "
    "maret március martie",
    "april apr avril avr abril abr aprile huhtikuuta kwietnia dubna апреля квітня nisan április aprilie",
    "may mai mayo maggio mag maio mei maj toukokuuta maja května мая травня mayıs május",
    "june jun juni juin junio giugno giu junho kesäkuuta czerwca června июня червня haziran június iunie",
    "july jul juli juillet juil julio luglio lug julho heinäkuuta lipca července июля липня temmuz július "
    "iulie",
    "august aug août aout agosto ago augustus augusti elokuuta sierpnia srpna августа серпня ağustos "
    "agustus augusztus",
    "september sep sept septembre septiembre setiembre settembre set setembro syyskuuta września září "
    "сентября вересня eylül szeptember septembrie",
    "october oct oktober okt octobre octubre ottobre ott outubro out lokakuuta października října октября "
    "жовтня ekim október octombrie",
    "november nov novembre noviembre novembro marraskuuta listopada listopadu ноября листопада kasım "
    "noiembrie",
    "december dec dezember dez décembre déc decembre diciembre dic dicembre dezembro joulukuuta grudnia "
    "prosince декабря грудня aralık desember decembrie",
)

MONTHS: dict[str, str] = {
    name: str(number) for number, names in enumerate(_NAMES, 1) for name in names.split()
}
"""The number of the month by each of its names."""
