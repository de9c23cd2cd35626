from judged.clicks.evaluate import evaluate_clicks as evaluate_clicks
from judged.clicks.interleaving import InterleavedLists as InterleavedLists, interleave as interleave
from judged.clicks.logs.read import read_clicks as read_clicks
from judged.clicks.models.fit import fit_clicks as fit_clicks
from judged.clicks.models.result import ClickModel as ClickModel
from judged.clicks.protocol import ClickProtocol as ClickProtocol
from judged.clicks.result import ClickReport as ClickReport
from judged.clicks.tables import Clicks as Clicks
from judged.clicks.value import ValueReport as ValueReport, estimate_value as estimate_value
